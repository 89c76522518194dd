/** No text from a person, a model or the gateway blocks the event loop on its way to or from a chat. */
import { describe } from 'vitest';
import { ask } from '../../commands/ask.ts';
import { commands } from '../../commands/index.ts';
import { song } from '../../commands/song.ts';
import { nearest } from '../../src/core/util/nearest.ts';
import { ellipsis } from '../../src/core/util/words.ts';
import { html } from '../../src/core/web/html.ts';
import { signCallback } from '../../src/http/music-callback.ts';
import {
  disableMentions,
  escapeFenced,
  escapePlain,
  escapeSigns,
  safeUrl,
} from '../../src/platforms/discord/render/escape.ts';
import { readCommandLine, readLine, typedOptions } from '../../src/platforms/shared/command-line.ts';
import { completeLine } from '../../src/platforms/shared/completion.ts';
import { fieldName, textParts } from '../../src/platforms/shared/form-text.ts';
import { isBareLink } from '../../src/platforms/shared/markdown/tree.ts';
import { classifyMessage } from '../../src/platforms/shared/talk.ts';
import { splitPlain, wellFormed } from '../../src/platforms/shared/text.ts';
import { tokenize } from '../../src/platforms/shared/tokens.ts';
import { stableText } from '../../src/platforms/slack/deliver/native-stream.ts';
import { readSlashLine } from '../../src/platforms/slack/receive/commands.ts';
import { mentions, textWithNames } from '../../src/platforms/slack/receive/incoming-message.ts';
import {
  escapeMrkdwn,
  plainText,
  splitMrkdwn,
  unescapeSlack,
} from '../../src/platforms/slack/render/escape.ts';
import { contextBlocks, linkLine } from '../../src/platforms/slack/render/lines.ts';
import { breakTokens } from '../../src/platforms/slack/render/markdown.ts';
import { printable } from '../../src/platforms/terminal/render.ts';
import { linkableUrl, readableText } from '../../src/platforms/web/render/markdown.ts';
import { testLinear } from '../linear-text.ts';

const SOURCES = { commands, suggest: async () => [], mentions: [] };
const BOT = { team: 'T1', botUser: 'U0BOT', botId: 'B1' };
const ADA = { id: 'U0ADA', displayName: 'Ada', moderator: false, roles: [] };

describe('shared platform code runs in linear time', () => {
  testLinear({
    readLine: (text) => readLine(text, commands),
    'the options of a line': (text) => typedOptions(song, readCommandLine(song, text), ''),
    'an option of a line': (text) => typedOptions(song, readCommandLine(song, `rain --style ${text}`), ''),
    'completion of a line': (text) => completeLine(`/song ${text}`, SOURCES),
    'completion of an option': (text) => completeLine(`/ask hi --model ${text}`, SOURCES),
    tokenize: (text) => tokenize(text, (name) => name === 'style'),
    nearest: (text) => nearest(text, ['song', 'ask']),
    textParts: (text) => textParts('a', {}, text, 3_000),
    fieldName,
    isBareLink: (text) => isBareLink(text, text),
    classifyMessage: (text) => classifyMessage(text, commands),
    ellipsis: (text) => ellipsis(text, 100),
    splitPlain: (text) => splitPlain(text, 3_000),
    wellFormed,
  });
});

describe('Discord rendering runs in linear time', () => {
  testLinear({
    disableMentions,
    escapeSigns,
    escapePlain,
    escapeFenced,
    safeUrl: (text) => safeUrl(`https://a.example/${text}`),
  });
});

describe('Slack parsing and rendering runs in linear time', () => {
  testLinear({
    readSlashLine: (text) => readSlashLine(`/ask ${text}`, [ask]),
    mentions: (text) => mentions({ text }, BOT),
    textWithNames: (text) => textWithNames(text, BOT, { find: async () => ADA, teamOf: () => undefined }),
    escapeMrkdwn,
    unescapeSlack: (text) => unescapeSlack(text),
    splitMrkdwn: (text) => splitMrkdwn(text, 3_000),
    plainText: (text) => plainText(text, 100),
    breakTokens,
    linkLine: (text) => linkLine(`https://a.example/${text}`, text),
    contextBlocks: (text) => contextBlocks([text, text]),
    'a new stream': (text) => stableText('', text),
    'a growing stream': (text) => stableText(text, `${text}a b`),
  });
});

describe('the terminal, the web and pages render in linear time', () => {
  testLinear({
    printable,
    linkableUrl: (text) => linkableUrl(`https://a.example/${text}`),
    readableText,
    html: (text) => html`<p title="${text}"></p>`,
    signCallback: (text) => signCallback(text, 'secret'),
  });
});
