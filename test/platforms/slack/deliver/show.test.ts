import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Message } from '../../../../src/core/message.ts';
import { PlatformError, type PostState } from '../../../../src/platforms/platform.ts';
import { pings, readableText } from '../../../servers/slack/mentions.ts';
import type { PostedMessage } from '../../../servers/slack/workspace.ts';
import {
  ADDRESS,
  EDIT_GAP_MS,
  FILES,
  type Harness,
  PICTURE,
  SONG,
  startHarness,
  storedFile,
} from '../harness.ts';

let harness: Harness;

beforeEach(async () => {
  harness = await startHarness();
});

afterEach(async () => {
  await harness.stop();
});

const noRefusals = () => expect(harness.server.refused).toEqual([]);
const PROGRESS: Message = {
  title: 'Composing “Rain”',
  progress: { stage: 'Composing', startedAt: 1_800_000_000_000 },
};

function only(messages: readonly PostedMessage[]): PostedMessage {
  const [message, ...more] = messages;
  if (message === undefined || more.length > 0) throw new Error(`${messages.length} messages are shown`);
  return message;
}

describe('showing', () => {
  it('posts once, then edits', async () => {
    const { server, show } = harness;
    await show(PROGRESS);
    const message = only(server.botMessages());
    expect(readableText(message)).toContain('Composing');
    await show({ title: 'Rain', text: 'It is **done**.' });
    expect(only(server.botMessages())).toBe(message);
    expect(readableText(message)).toBe('Rain\nIt is **done**.');
    expect(message.unfurl).toBe(false);
    noRefusals();
  });

  it('does not repeat an unchanged write', async () => {
    const { server, show } = harness;
    await show(PROGRESS);
    await show(PROGRESS);
    await show(PROGRESS);
    expect(server.calls.filter(({ method }) => method.startsWith('chat.'))).toHaveLength(1);
    noRefusals();
  });

  it('posts in the thread of the question', async () => {
    const { server, show } = harness;
    const { message } = await server.say('a question');
    await show({ text: 'word '.repeat(3000) }, { address: { ...ADDRESS, thread: message.ts } });
    expect(server.botMessages().length).toBeGreaterThan(1);
    expect(server.thread(message)).toEqual(server.botMessages());
    noRefusals();
  });

  it('moves long text into the thread, deletes unneeded messages, and uploads very long text as a file', async () => {
    const { server, show } = harness;
    await show({ title: 'Long', text: 'word '.repeat(3000) });
    const [main] = server.botMessages();
    if (main === undefined) throw new Error('no message was posted');
    expect(server.messages('C0MUSIC').filter(({ threadTs }) => threadTs === undefined)).toEqual([main]);
    expect(server.thread(main).length).toBeGreaterThan(0);
    await show({ title: 'Short', text: 'word' });
    expect(server.thread(main)).toEqual([]);
    const text = 'word '.repeat(20_000);
    await show({ title: 'Very long', text });
    const reply = await server.until(() => server.thread(main).find(({ files }) => files.length > 0));
    expect(reply.files.map(({ name, bytes }) => [name, bytes.toString()])).toEqual([['text.md', text]]);
    noRefusals();
  });

  it('posts again after a person deleted the message', async () => {
    const { server, show } = harness;
    await show(PROGRESS);
    only(server.botMessages()).deleted = true;
    await show({ title: 'Rain' });
    expect(readableText(only(server.botMessages()))).toBe('Rain');
    expect(server.refused.map(({ error }) => error)).toEqual(['message_not_found']);
  });
});

describe('files', () => {
  it('uploads playable songs in one reply with unchanged bytes', async () => {
    const { server, show } = harness;
    await show(PROGRESS);
    const take2 = {
      ...SONG,
      name: 'rain-2.mp3',
      source: storedFile('take-2', 'audio/mpeg'),
      caption: 'Take 2',
    };
    await show({ title: 'Rain', media: [SONG, take2] });
    const main = server.botMessages()[0];
    if (main === undefined) throw new Error('no message was posted');
    const reply = only(await server.until(() => server.thread(main).length > 0 && server.thread(main)));
    expect(reply.files.map(({ name, title, bytes }) => [name, title, bytes])).toEqual([
      ['rain.mp3', 'rain.mp3', FILES.get('song')],
      ['rain-2.mp3', 'rain-2.mp3', FILES.get('take-2')],
    ]);
    noRefusals();
  });

  it('shows images in the message, with alt text', async () => {
    const { server, show } = harness;
    await show({ title: 'Rain', media: [PICTURE] });
    const main = only(server.botMessages());
    expect(main.blocks).toMatchObject([{ type: 'header' }, { type: 'image', alt_text: 'Rain' }]);
    const [file] = [...server.workspace.files.values()];
    expect(main.blocks[1]).toMatchObject({ slack_file: { id: file?.id } });
    expect(file?.bytes).toEqual(FILES.get('picture'));
    noRefusals();
  });

  it('uploads without alt text, which the image block has', async () => {
    const { server, show } = harness;
    const alt = 'Rain falls. '.repeat(100).trim();
    await show({
      title: 'Rain',
      media: [
        { ...PICTURE, alt },
        { ...SONG, alt },
      ],
    });
    expect(only(server.botMessages().filter(({ threadTs }) => threadTs === undefined)).blocks).toMatchObject([
      { type: 'header' },
      { type: 'context' },
      { type: 'image', alt_text: alt },
    ]);
    const uploads = server.callsOf('files.getUploadURLExternal');
    expect(uploads.map(({ arguments: sent }) => Object.keys(sent).toSorted())).toEqual([
      ['filename', 'length'],
      ['filename', 'length'],
    ]);
    noRefusals();
  });

  it('waits while Slack checks an image, then shares it as a file', async () => {
    await harness.stop();
    harness = await startHarness({ pictureDelayMs: 25 });
    await harness.show({ title: 'Rain', media: [PICTURE] });
    expect(only(harness.server.botMessages()).blocks).toMatchObject([{ type: 'header' }, { type: 'image' }]);
    noRefusals();
    await harness.stop();
    harness = await startHarness({ pictureDelayMs: 60_000 });
    await harness.show({ title: 'Rain', media: [PICTURE] });
    const main = harness.server.botMessages()[0];
    if (main === undefined) throw new Error('no message was posted');
    expect(main.blocks).toMatchObject([{ type: 'header' }]);
    const reply = await harness.server.until(() => harness.server.thread(main)[0]);
    expect(reply.files[0]?.bytes).toEqual(FILES.get('picture'));
    noRefusals();
  });

  it('links to a file that Slack rejects', async () => {
    const { server, show } = harness;
    server.faults.next('files.getUploadURLExternal', { type: 'error', error: 'file_upload_size_restricted' });
    await show({ title: 'Rain', media: [SONG] });
    const text = readableText(only(server.botMessages()));
    expect(text).toContain('<https://bot.example/files/song?as=rain.mp3|rain.mp3 · Take 1 · 2:31>');
    noRefusals();
  });

  it('uploads nothing twice after an interruption', async () => {
    const { server, show } = harness;
    server.faults.next('files.completeUploadExternal', { type: 'status', status: 500 }, 2);
    const message = { title: 'Rain', media: [PICTURE, SONG] };
    // The completion of the image is retried at once. Then sharing the song fails.
    server.faults.next('chat.postMessage', { type: 'status', status: 503 });
    await expect(show(message)).rejects.toMatchObject({ code: 'unavailable' });
    await show(message);
    await show(message);
    const main = server.botMessages()[0];
    if (main === undefined) throw new Error('no message was posted');
    await server.until(() => server.thread(main).length === 1);
    expect(server.callsOf('files.getUploadURLExternal')).toHaveLength(2);
    noRefusals();
  });

  it('shares a file once although the answer was lost', async () => {
    const { server, show } = harness;
    await show(PROGRESS);
    server.faults.next('files.completeUploadExternal', { type: 'answer lost' });
    await expect(show({ title: 'Rain', media: [SONG] })).rejects.toMatchObject({ code: 'unavailable' });
    const main = server.botMessages()[0];
    if (main === undefined) throw new Error('no message was posted');
    await show({ title: 'Rain', media: [SONG] });
    expect(server.thread(main)).toHaveLength(1);
    noRefusals();
  });
});

describe('storing the state before the result', () => {
  it('happens only after a failure of Slack', async () => {
    const { slack } = harness;
    let posted: PostState | undefined;
    let writes = 0;
    const remember = async () => {
      writes += 1;
    };
    const show = async (message: Message) => {
      posted = await slack.show(ADDRESS, message, { key: 'job-1', posted, remember });
      return writes;
    };
    expect(await show(PROGRESS)).toBe(0);
    expect(await show({ ...PROGRESS, text: 'The words of the song' })).toBe(0);
    expect(await show({ title: 'Rain', media: [PICTURE, SONG], notify: 'ready' })).toBe(0);
    harness.server.faults.next('files.completeUploadExternal', { type: 'answer lost' });
    const more = { ...SONG, source: storedFile('take-2', 'audio/mpeg') };
    await expect(show({ title: 'Rain', media: [PICTURE, SONG, more] })).rejects.toBeInstanceOf(PlatformError);
    expect(writes).toBe(1);
    noRefusals();
  });
});

describe('mentioning the requester', () => {
  it('mentions no one else, whatever the text contains', async () => {
    const { server, show } = harness;
    await show({
      title: '<!channel>',
      text: '<!here> <@U0BOB>',
      fields: [{ name: '<@U0BOB>', value: '<!everyone>' }],
      footer: '<!channel>',
      notify: 'ready',
    });
    expect(server.botMessages().map((message) => pings(message))).toEqual([['U0ADA']]);
    noRefusals();
  });

  it('mentions once in a reply if the message exists, together with the files', async () => {
    const { server, show } = harness;
    await show(PROGRESS);
    await show({ title: 'Rain', notify: 'ready' });
    await show({ title: 'Rain!', notify: 'ready' });
    const main = server.botMessages()[0];
    if (main === undefined) throw new Error('no message was posted');
    expect(server.thread(main).map((message) => [message.text, pings(message)])).toEqual([
      ['<@U0ADA> Rain', ['U0ADA']],
    ]);

    await show(PROGRESS, { key: 'job-2', posted: undefined });
    await show({ title: 'Snow', media: [SONG], notify: 'ready' }, { key: 'job-2' });
    const other = server
      .botMessages()
      .find(({ threadTs, text }) => threadTs === undefined && text.includes('Snow'));
    if (other === undefined) throw new Error('no message was posted');
    const reply = only(await server.until(() => server.thread(other).length > 0 && server.thread(other)));
    expect([reply.text, reply.files.length]).toEqual(['<@U0ADA> Snow', 1]);
    noRefusals();
  });
});

describe('mentioning the requester after a failure', () => {
  const LONG_WAIT = { type: 'ratelimited', retryAfter: 90 } as const;
  const OWN_ERROR = { type: 'error', error: 'internal_error' } as const;

  it.each([
    [{ type: 'dropped' }, 1],
    [{ type: 'answer lost' }, 1],
    [{ type: 'status', status: 500 }, 1],
    [LONG_WAIT, 1],
    [OWN_ERROR, 4],
  ] as const)('mentions once, with the file, if sharing fails with $type', async (fault, times) => {
    const { server, show } = harness;
    await show(PROGRESS);
    const message = { title: 'Rain', media: [SONG], notify: 'ready' as const };
    server.faults.next('files.completeUploadExternal', fault, times);
    await expect(show(message)).rejects.toMatchObject({ code: 'unavailable' });
    for (let time = 0; time < 2; time += 1) await show(message);
    const [main] = server.botMessages();
    if (main === undefined) throw new Error('no message was posted');
    await server.until(() => server.thread(main).length > 0);
    expect(server.thread(main).map((reply) => [reply.files.length, pings(reply)])).toEqual([[1, ['U0ADA']]]);
    noRefusals();
  });

  it.each([
    [LONG_WAIT, 1],
    [OWN_ERROR, 4],
  ] as const)('mentions once if a reply without files fails with $type', async (fault, times) => {
    const { server, show } = harness;
    await show(PROGRESS);
    server.faults.next('chat.postMessage', fault, times);
    await expect(show({ title: 'Rain', notify: 'ready' })).rejects.toMatchObject({ code: 'unavailable' });
    for (let time = 0; time < 2; time += 1) await show({ title: 'Rain', notify: 'ready' });
    const replies = server.botMessages().filter(({ threadTs }) => threadTs !== undefined);
    expect(replies.map(pings)).toEqual([['U0ADA']]);
    noRefusals();
  });
});

it('mentions once for an incomplete and once for a ready result, even after a crash', async () => {
  const { server, show } = harness;
  const posted = await show(PROGRESS);
  const expired: Message = { title: 'Composing', text: 'Not in time.', notify: 'incomplete' };
  const done: Message = { title: 'Rain', notify: 'ready' };
  for (const message of [expired, expired, done, done]) await show(message);
  for (const message of [expired, done]) await show(message, { posted, mayHavePosted: true });
  const replies = server.botMessages().filter(({ threadTs }) => threadTs !== undefined);
  expect(replies.map(({ text }) => text)).toEqual([
    '<@U0ADA> Composing: this is incomplete.',
    '<@U0ADA> Rain',
  ]);
  noRefusals();
});

describe('failures of Slack', () => {
  it('do not repeat a message whose answer was lost', async () => {
    const { server, show } = harness;
    server.faults.next('chat.postMessage', { type: 'answer lost' });
    await show(PROGRESS);
    await show({ title: 'Rain' });
    expect(readableText(only(server.botMessages()))).toBe('Rain');
    noRefusals();
  });

  it('do not repeat a message if the process died before storing it', async () => {
    const { server, show } = harness;
    await show(PROGRESS);
    await show({ title: 'Rain' }, { posted: undefined, mayHavePosted: true });
    expect(readableText(only(server.botMessages()))).toBe('Rain');
    noRefusals();
  });

  it('do not repeat uploads, files or mentions if the process died before storing them', async () => {
    const { server, show } = harness;
    const posted = await show(PROGRESS);
    const message = { title: 'Rain', media: [SONG], notify: 'ready' as const };
    await show(message);
    // New tags change the size of a song.
    const retagged = { ...SONG, source: storedFile('take-2', 'audio/mpeg') };
    await show({ ...message, media: [retagged] }, { posted, mayHavePosted: true });
    await show({ title: 'Snow', notify: 'ready' }, { key: 'job-2', posted: undefined });
    const snow = await show({ ...PROGRESS, title: 'Snow' }, { key: 'job-2' });
    await show({ title: 'Snow', notify: 'ready' }, { key: 'job-2' });
    await show({ title: 'Snow', notify: 'ready' }, { key: 'job-2', posted: snow, mayHavePosted: true });
    const replies = server.botMessages().filter(({ threadTs }) => threadTs !== undefined);
    expect(replies.map(({ text }) => text)).toEqual(['<@U0ADA> Rain', '<@U0ADA> Snow']);
    expect(server.callsOf('files.getUploadURLExternal')).toHaveLength(1);
    noRefusals();
  });

  it('do not mix up files of different posts in a thread', async () => {
    const { server, show } = harness;
    const { message } = await server.say('a question');
    const address = { ...ADDRESS, thread: message.ts };
    const posted = await show(PROGRESS, { address });
    await show({ title: 'Rain', media: [SONG] }, { address, key: 'job-2', posted: undefined });
    const other = { ...SONG, source: storedFile('take-2', 'audio/mpeg') };
    await show({ title: 'Rain', media: [other] }, { address, posted, mayHavePosted: true });
    const files = await server.until(() => {
      const shared = server.thread(message).flatMap((reply) => reply.files);
      return shared.length === 2 && shared;
    });
    expect(files.map(({ bytes }) => bytes)).toEqual([FILES.get('song'), FILES.get('take-2')]);
    noRefusals();
  });

  it('cause a search, and a new post if no message is found', async () => {
    const { server, show } = harness;
    server.faults.next('chat.postMessage', { type: 'dropped' });
    await expect(show(PROGRESS)).rejects.toMatchObject({ code: 'unavailable' });
    await show(PROGRESS);
    only(server.botMessages());
    noRefusals();
  });

  it.each([
    ['a rate limit', { type: 'ratelimited', retryAfter: 1 }],
    ['a server error', { type: 'status', status: 500 }],
    ['a dropped connection', { type: 'dropped' }],
    ['nonsense', { type: 'nonsense' }],
    ['its own error', { type: 'error', error: 'internal_error' }],
  ] as const)('do not prevent an edit: %s', async (_, fault) => {
    const { server, show } = harness;
    await show(PROGRESS);
    server.faults.next('chat.update', fault, 2);
    await show({ title: 'Rain' });
    expect(readableText(only(server.botMessages()))).toBe('Rain');
    expect(server.faults.met).toBe(2);
    noRefusals();
  });

  it('include the limit of posts per second, after which the post is repeated', async () => {
    const { server, show } = harness;
    server.limitPosts();
    await show({ title: 'Rain' });
    const second = () => show({ title: 'Snow' }, { key: 'job-2', posted: undefined });
    await expect(second()).rejects.toMatchObject({ code: 'unavailable', retryAfterMs: 1000 });
    server.passTime(1001);
    await second();
    expect(server.botMessages().map(readableText)).toEqual(['Rain', 'Snow']);
    noRefusals();
  });

  it('include the Retry-After if it is too long for a call', async () => {
    const { server, show } = harness;
    server.faults.next('chat.postMessage', { type: 'ratelimited', retryAfter: 90 });
    await expect(show(PROGRESS)).rejects.toMatchObject({ code: 'unavailable', retryAfterMs: 90_000 });
    await expect(show(PROGRESS)).resolves.toBeDefined();
    only(server.botMessages());
  });

  it.each([
    ['msg_blocks_too_long', 2],
    ['msg_too_long', 2],
    ['invalid_blocks', 2],
  ])('cause a smaller or plainer rendering on %s', async (error, times) => {
    const { server, show } = harness;
    server.faults.next('chat.postMessage', { type: 'error', error }, times);
    const text = Array.from({ length: 900 }, (_, index) => `word${index}`).join(' ');
    await show({ title: 'Rain', text, actions: [{ type: 'action', id: 'ask.again:j:0', label: 'Again' }] });
    const posted = server.botMessages().map(readableText).join(' ');
    expect(posted.match(/word\d+/g)).toEqual(text.split(' '));
    expect(posted).toContain('Again');
    noRefusals();
  });

  const closed: [string, (harness: Harness) => void, Partial<PlatformError>][] = [
    [
      'an archived channel',
      ({ server }) => void server.workspace.addChannel({ id: 'C0MUSIC', name: 'music', archived: true }),
      { code: 'gone' },
    ],
    [
      'a channel without the bot',
      ({ server }) => server.workspace.channels.get('C0MUSIC')?.members.clear(),
      { code: 'not-invited', advice: expect.stringContaining('/invite @minstrel') },
    ],
    [
      'a private channel without the bot',
      ({ server }) =>
        void server.workspace.addChannel({ id: 'C0MUSIC', name: 'secret', kind: 'group', withBot: false }),
      { code: 'not-invited', advice: expect.stringContaining('/invite @minstrel') },
    ],
    [
      'a missing scope',
      ({ server }) => void server.takeScope('chat:write'),
      { code: 'refused', advice: expect.stringContaining('permission') },
    ],
    ['a revoked token', ({ server }) => server.revokeToken(), { code: 'unavailable', retryAfterMs: 60_000 }],
  ];
  it.each(closed)('are reported for %s', async (_, close, expected) => {
    close(harness);
    const error = await harness.show(PROGRESS).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PlatformError);
    expect(error).toMatchObject(expected);
    expect(harness.server.refused).toHaveLength(1);
    // Slack rejected it, so no search is needed.
    expect(harness.stored.at(-1)).toMatchObject({ parts: [] });
  });

  it('are explained for direct messages between other people', async () => {
    const address = { ...ADDRESS, channel: 'D0OTHERS' };
    await expect(harness.show(PROGRESS, { address })).rejects.toMatchObject({
      code: 'not-invited',
      advice: expect.stringContaining('other people'),
    });
  });

  it('are reported as “gone” for a deleted channel', async () => {
    const { server, show } = harness;
    await show(PROGRESS);
    server.workspace.channels.delete('C0MUSIC');
    await expect(show({ title: 'Rain' })).rejects.toMatchObject({ code: 'gone' });
  });
});

describe('text while it is generated', () => {
  const stream = () =>
    harness.slack.stream(ADDRESS, {
      key: 'job-1',
      posted: harness.stored.at(-1),
      remember: async (posted) => void harness.stored.push(posted),
    });

  it('shows the newest state with few edits, and always the last one', async () => {
    const { server } = harness;
    await harness.show(PROGRESS);
    const writing = stream();
    for (let count = 1; count <= 500; count += 1) {
      if (count % 50 === 0) await harness.update(writing, { text: `${count} words` });
      else writing.update(() => ({ text: `${count} words` }));
    }
    await writing.close({ text: 'All 500 words' });
    const message = only(server.botMessages());
    expect(readableText(message)).toBe('All 500 words');
    expect(message.revisions.length).toBeGreaterThan(1);
    expect(message.revisions.length).toBeLessThan(25);
    noRefusals();
  });

  it('writes the last state in spite of rate limits and errors', async () => {
    const { server } = harness;
    await harness.show(PROGRESS);
    server.faults.every(2, 'chat.update', { type: 'ratelimited', retryAfter: 1 });
    const writing = stream();
    for (let count = 1; count <= 20; count += 1) {
      await harness.update(writing, { text: `${count}` });
    }
    await writing.close({ text: 'The end' });
    expect(readableText(only(server.botMessages()))).toBe('The end');
    noRefusals();
  });

  it("shares the rate limit of edits with the workspace's other streams", async () => {
    const { server, slack } = harness;
    const streams = [1, 2, 3, 4].map((number) =>
      slack.stream(ADDRESS, { key: `stream-${number}`, remember: async () => {} }),
    );
    const startedAt = harness.now();
    const callCount = () => server.calls.filter(({ method }) => method.startsWith('chat.')).length;
    for (let count = 1; count <= 15; count += 1) {
      for (const writing of streams) writing.update(() => ({ text: `${count}` }));
      await server.until(() => callCount() >= count);
    }
    // The first write of each stream does not wait.
    const maxCalls = Math.ceil((harness.now() - startedAt) / EDIT_GAP_MS) + streams.length;
    expect(callCount()).toBeLessThanOrEqual(maxCalls);
    await Promise.all(streams.map((writing, index) => writing.close({ text: `end ${index}` })));
    expect(server.botMessages().map(readableText).toSorted()).toEqual(['end 0', 'end 1', 'end 2', 'end 3']);
    noRefusals();
  });

  it('continues in the thread when it outgrows a message', async () => {
    const { server, slack } = harness;
    const writing = slack.stream(
      { ...ADDRESS, channel: 'D0ADA' },
      { key: 'job-1', remember: async () => {} },
    );
    const words = Array.from({ length: 4000 }, (_, index) => `w${index}`);
    for (let count = 500; count <= words.length; count += 500) {
      await harness.update(writing, { text: words.slice(0, count).join(' ') });
    }
    await writing.close({ text: words.join(' ') });
    expect(server.botMessages('D0ADA').map(readableText).join(' ').match(/w\d+/g)).toEqual(words);
    noRefusals();
  });

  it('becomes a file only once it is complete', async () => {
    const { server } = harness;
    const writing = stream();
    const text = 'word '.repeat(20_000);
    for (const part of [0.8, 0.9]) {
      await harness.update(writing, { text: text.slice(0, text.length * part) });
    }
    await writing.close({ text });
    await server.until(() => server.botMessages().some((message) => message.files.length > 0));
    const files = server.botMessages().flatMap((message) => message.files);
    expect(files.map(({ bytes }) => bytes.length)).toEqual([text.length]);
    noRefusals();
  });

  it('reports errors only at the end', async () => {
    const writing = harness.slack.stream(
      { ...ADDRESS, channel: 'C0QUIET' },
      { key: 'k', remember: async () => {} },
    );
    writing.update(() => ({ text: 'a' }));
    await harness.server.until(() => harness.server.refused.length === 1);
    writing.update(() => ({ text: 'b' }));
    await expect(writing.close({ text: 'c' })).rejects.toMatchObject({ code: 'not-invited' });
  });
});

describe('a private message', () => {
  it('uses the response_url five times, then an ephemeral message', async () => {
    const { server, slack, bot } = harness;
    await server.slash('/song', 'rain');
    const address = (await server.until(() => bot.invocations[0])).address;
    for (let count = 1; count <= 6; count += 1)
      await slack.sendPrivately(address, { text: `Sentence ${count}` });
    expect(server.ephemeralsOf().map(({ via }) => via)).toEqual([
      ...Array(5).fill('response_url'),
      'chat.postEphemeral',
    ]);
    expect(server.refused.map(({ error }) => error)).toEqual(['used_url']);
  });

  it('does not use the response_url after half an hour', async () => {
    const { server, slack } = harness;
    const platformData = {
      responseUrl: `${server.url}/response/old`,
      responseUrlSince: Date.now() - 31 * 60_000,
    };
    await slack.sendPrivately({ ...ADDRESS, platformData }, { text: 'Later' });
    expect(server.ephemeralsOf().map(({ via }) => via)).toEqual(['chat.postEphemeral']);
    noRefusals();
  });

  it('becomes a direct message where the bot cannot post', async () => {
    const { server, slack } = harness;
    await slack.sendPrivately({ ...ADDRESS, channel: 'C0QUIET' }, { title: 'Rain', media: [SONG] });
    const posted = only(server.botMessages('D0ADA'));
    expect(readableText(posted)).toContain('https://bot.example/files/song');
    expect(server.refused.map(({ error }) => error)).toEqual(['not_in_channel']);
  });

  const REPORT: Message = {
    title: 'Usage',
    fields: [{ name: 'By person', value: 'Ada: 2' }],
    media: [{ ...SONG, kind: 'image', name: 'usage.png' }],
    data: {
      chart: {
        title: 'Requests',
        categories: ['Nov 25', 'Nov 26'],
        series: [{ name: 'song', values: [0, 2] }],
      },
      tables: [{ caption: 'By person', columns: ['Person', 'Requests'], rows: [['Ada', 2]] }],
    },
  };

  it("shows data in Slack's chart and tables instead of the fields and the picture", async () => {
    const { server, slack } = harness;
    await slack.sendPrivately(ADDRESS, REPORT);
    expect(server.ephemeralsOf()).toHaveLength(1);
    expect(server.ephemeralsOf()[0]?.blocks).toMatchObject([
      { type: 'header' },
      {
        type: 'data_visualization',
        chart: {
          series: [
            {
              name: 'song',
              data: [
                { label: 'Nov 25', value: 0 },
                { label: 'Nov 26', value: 2 },
              ],
            },
          ],
          axis_config: { categories: ['Nov 25', 'Nov 26'] },
        },
      },
      {
        type: 'data_table',
        caption: 'By person',
        rows: [
          [{ text: 'Person' }, {}],
          [{ text: 'Ada' }, { value: 2 }],
        ],
      },
    ]);
    noRefusals();
  });

  it('shows the fields and the picture if Slack rejects the chart', async () => {
    const { server, slack } = harness;
    for (const method of ['chat.postEphemeral', 'chat.postMessage'])
      server.faults.next(method, { type: 'error', error: 'invalid_blocks' });
    await slack.sendPrivately(ADDRESS, REPORT);
    const shown = server.ephemeralsOf().map(readableText).join();
    expect(shown).toContain('Ada: 2');
    expect(shown).toContain('https://bot.example/files/song');
    noRefusals();
  });

  it('with a chart and a text that is too long arrives as a direct message with the full text', async () => {
    const { server, slack } = harness;
    await slack.sendPrivately(ADDRESS, { ...REPORT, text: 'rain '.repeat(60_000) });
    expect(server.ephemeralsOf().map(readableText).join()).toContain('sent it to you as a direct message');
    const files = () => server.botMessages('D0ADA').flatMap((message) => message.files);
    await server.until(() => files().some(({ name }) => name === 'text.md'));
    noRefusals();
  });

  it('reports that the person cannot be reached', async () => {
    harness.server.revokeToken();
    await expect(harness.slack.sendPrivately(ADDRESS, { text: 'x' })).rejects.toMatchObject({
      code: 'unavailable',
    });
  });
});
