import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closeMarkdown } from '../../../../commands/ask/unfinished-markdown.ts';
import type { Address } from '../../../../src/core/invocation.ts';
import type { Message } from '../../../../src/core/message.ts';
import { stableText } from '../../../../src/platforms/slack/deliver/native-stream.ts';
import { pings, readableText } from '../../../servers/slack/mentions.ts';
import { ADDRESS, EDIT_GAP_MS, type Harness, startHarness } from '../harness.ts';

let harness: Harness;

beforeEach(async () => {
  harness = await startHarness();
});

afterEach(async () => {
  expect(harness.server.refused).toEqual([]);
  await harness.stop();
});

const WORDS = Array.from({ length: 2200 }, (_, index) => `word${index}`);
/** Lines of ten words. */
const TEXT = Array.from({ length: 220 }, (_, line) => WORDS.slice(line * 10, line * 10 + 10).join(' ')).join(
  '\n\n',
);
const STOP = { type: 'action', id: 'ask.stop:j1:0', label: 'Stop' } as const;
const AGAIN = { type: 'action', id: 'ask.again:j1:0', label: 'Again' } as const;

const open = (address: Address = ADDRESS, key = 'job-1') =>
  harness.slack.stream(address, {
    key,
    posted: key === 'job-1' ? harness.stored.at(-1) : undefined,
    remember: async (posted) => {
      if (key === 'job-1') harness.stored.push(JSON.parse(JSON.stringify(posted)));
    },
  });

/** Writes a text in steps, and waits for Slack after each. */
async function write(
  text: string,
  { address = ADDRESS, steps = 12, between = async (_step: number) => {}, whole = text } = {},
) {
  const writing = open(address);
  for (let step = 1; step <= steps; step += 1) {
    const part = text.slice(0, Math.ceil((text.length * step) / steps));
    await harness.update(writing, { title: 'Words', text: part, actions: [STOP] });
    await between(step);
  }
  await writing.close({ title: 'Words', text: whole, actions: [AGAIN] });
}

/** Starts a streamed text and waits until Slack has received it, except the last words. */
async function startStreaming(address: Address = ADDRESS) {
  const before = harness.server.callsOf('chat.startStream').length;
  const writing = open(address);
  const isBegun = () => harness.server.callsOf('chat.startStream').length > before;
  let text = '';
  // Starting may have to wait for another stream.
  for (let length = 3000; length <= 4000 || !isBegun(); length += 1000) {
    text = TEXT.slice(0, length);
    await harness.update(writing, { title: 'Words', text, actions: [STOP] });
  }
  const last = wordsOf(text).at(-3) ?? '';
  await harness.server.until(() =>
    harness.server.messages(address.channel).some(({ streaming }) => streaming?.text.includes(last)),
  );
  return writing;
}

const anchor = (channel = 'C0MUSIC') => {
  const [first] = harness.server.botMessages(channel).filter(({ threadTs }) => threadTs === undefined);
  if (first === undefined) throw new Error('There is no message');
  return first;
};
const inThread = () => harness.server.thread(anchor()).map(readableText).join('\n');
const wordsOf = (text: string) => text.match(/word\d+/g) ?? [];

/** Expects the full text once in the thread, and its beginning with the buttons in the channel. */
function expectWhole() {
  expect(wordsOf(inThread())).toEqual(WORDS);
  expect(readableText(anchor())).toContain('word0 word1');
  expect(readableText(anchor())).toContain('The rest is in the thread.');
  expect(readableText(anchor())).not.toContain('word500');
  expect(JSON.stringify(anchor().blocks)).toContain('Again');
  expect(harness.server.botMessages().filter(({ threadTs }) => threadTs === undefined)).toHaveLength(1);
  expect(harness.server.workspace.messages.filter(({ streaming }) => streaming?.open)).toEqual([]);
}

describe('long text in a channel', () => {
  it('contains no lone surrogates, whatever the model wrote', async () => {
    await write(TEXT.replaceAll('word5', '\ud83dword5'));
    expectWhole();
    const sent = harness.server
      .callsOf('chat.appendStream')
      .map(({ arguments: sentArguments }) => JSON.stringify(sentArguments));
    expect(sent.length).toBeGreaterThan(3);
    expect(sent.join()).not.toMatch(/\\ud[89a-f]/);
  });

  it('is streamed in the thread, and the channel shows its beginning', async () => {
    await write(TEXT);
    expectWhole();
    const { server } = harness;
    expect(server.callsOf('chat.startStream').length).toBeGreaterThan(0);
    expect(server.callsOf('chat.appendStream').length).toBeGreaterThan(3);
    expect(server.callsOf('chat.startStream')[0]?.arguments).toMatchObject({
      recipient_team_id: 'T0MINSTREL',
      recipient_user_id: 'U0ADA',
    });
  });

  it('is streamed to a visitor with their own workspace ID', async () => {
    const { server, bot } = harness;
    server.workspace.addUser({ id: 'U0EVE', name: 'eve', team: 'T0ELSE' });
    await server.slash('/song', 'rain', { user: 'U0EVE' });
    await server.until(() => bot.started === 1);
    await write(TEXT, { address: { ...ADDRESS, person: 'U0EVE' } });
    expectWhole();
    expect(server.callsOf('chat.startStream')[0]).toMatchObject({
      arguments: { recipient_team_id: 'T0ELSE', recipient_user_id: 'U0EVE' },
      outcome: 'ok',
    });
  });

  it('has a stop button while it is generated', async () => {
    const writing = await startStreaming();
    expect(JSON.stringify(anchor().blocks)).toContain('Stop');
    await writing.close({ title: 'Words', text: TEXT, actions: [AGAIN] });
    expectWhole();
  });

  it('is complete below a new message if a person deleted the first one', async () => {
    const { server, update } = harness;
    const writing = await startStreaming();
    anchor().deleted = true;
    for (const length of [6000, 9000, 12_000])
      await update(writing, { title: 'Words', text: TEXT.slice(0, length), actions: [STOP] });
    await writing.close({ title: 'Words', text: TEXT, actions: [AGAIN] });
    expectWhole();
    expect(server.botMessages()).toHaveLength(1 + server.thread(anchor()).length);
    expect(new Set(server.refused.splice(0).map(({ error }) => error))).toEqual(
      new Set(['message_not_found']),
    );
  });

  it('stays in its message while it is short', async () => {
    await write(TEXT.slice(0, 700));
    expect(harness.server.callsOf('chat.startStream')).toEqual([]);
    expect(harness.server.botMessages()).toHaveLength(1);
  });

  it('is removed from the thread if only a sentence is left', async () => {
    await write(TEXT, { whole: 'That went wrong.' });
    expect(harness.server.botMessages().map(readableText)).toEqual([
      expect.stringContaining('That went wrong.'),
    ]);
  });

  it('is one text although markup was closed in between', async () => {
    const text = `${'Words **that are bold\nand go on** with [a link](https://example.org/a).\n\n'.repeat(40)}end`;
    const writing = open();
    for (let at = 500; at < text.length; at += 500) {
      const part = text.slice(0, at);
      await harness.update(writing, { text: (part.match(/\*\*/g) ?? []).length % 2 ? `${part}**` : part });
    }
    await writing.close({ text });
    expect(inThread().match(/a link/g)).toHaveLength(40);
    expect(inThread().match(/end/g)).toHaveLength(1);
  });

  it('mentions no one in any intermediate state', async () => {
    const hostile =
      'Some words <!channel> <@U0BOB> <!subteam^S1|all> `<!here>` <https://evil.example|word>\n'.repeat(60);
    await write(hostile, { steps: 20 });
    for (const message of harness.server.botMessages()) {
      expect(pings(message)).toEqual([]);
      for (const { text, blocks } of message.revisions)
        expect(pings({ ...message, text, blocks })).toEqual([]);
      expect(message.streaming?.text ?? '').not.toMatch(/<[!@]/);
    }
  });

  it.each([0, 1, 2, 3])('mentions no one if a line is cut within a token (%i)', async (shift) => {
    const line = `${'x'.repeat(shift)}${'<!channel>'.repeat(1500)}\n`;
    const writing = open();
    await harness.update(writing, { text: line });
    await harness.update(writing, { text: `${line}and` });
    await harness.server.until(() => harness.server.callsOf('chat.startStream').length > 0);
    writing.update(() => ({ text: `${line}and more` }));
    for (const { streaming } of harness.server.workspace.messages)
      expect(streaming?.text ?? '').not.toMatch(/<!/);
    await writing.close({ text: 'done' });
  });

  it('makes at most as many calls as edits would', async () => {
    const startedAt = harness.now();
    await write(TEXT, { steps: 20 });
    const maxCalls = Math.ceil((harness.now() - startedAt) / EDIT_GAP_MS) * 2 + 12;
    const calls = harness.server.calls.filter(({ method }) => method.startsWith('chat.'));
    expect(calls.length).toBeLessThanOrEqual(maxCalls);
  });
});

/** A thread that Ada started. */
async function thread(channel = 'C0MUSIC'): Promise<Address> {
  const { message } = await harness.server.say('a question', { channel });
  return { ...ADDRESS, channel, thread: message.ts };
}
const botMessagesIn = ({ channel }: Address) => harness.server.botMessages(channel);
const openStreams = () =>
  harness.server.workspace.messages.filter(({ streaming, deleted }) => streaming?.open && !deleted);

/** Expects the text once, in order, with only the final buttons. */
function expectOnce(address: Address, words: readonly string[]) {
  const messages = botMessagesIn(address);
  expect(messages.flatMap((message) => wordsOf(readableText(message)))).toEqual(words);
  const shown = JSON.stringify(messages.map(({ blocks }) => blocks));
  expect(shown.match(/"text":"Again"/g)).toHaveLength(1);
  expect(shown).not.toContain('Stop');
  expect(openStreams()).toEqual([]);
}

describe.each([
  ['a thread of a channel', 'C0MUSIC'],
  ['an agent thread', 'D0ADA'],
])('text in %s', (_name, channel) => {
  it('is streamed below the message with the button, which is deleted at the end', async () => {
    const address = await thread(channel);
    await write(TEXT.slice(0, 5000), {
      address,
      between: async (step) => {
        if (step !== 6) return;
        const [first, ...streamed] = botMessagesIn(address);
        expect(JSON.stringify(first?.blocks)).toContain('Stop');
        expect(wordsOf(JSON.stringify(first?.blocks))).toEqual([]);
        expect(streamed).toHaveLength(1);
        expect(streamed[0]?.streaming?.text).toContain('word0 word1');
      },
    });
    expect(harness.server.callsOf('chat.appendStream').length).toBeGreaterThan(3);
    expectOnce(address, wordsOf(TEXT.slice(0, 5000)));
    expect(botMessagesIn(address).map(({ threadTs }) => threadTs)).toEqual([address.thread]);
  });

  it('is complete at any length', async () => {
    const address = await thread(channel);
    await write(TEXT, { address });
    expectOnce(address, WORDS);
  });

  it('is one message if Slack does not support streaming', async () => {
    const address = await thread(channel);
    const error = 'method_not_supported_for_channel_type';
    harness.server.faults.next('chat.startStream', { type: 'error', error });
    await write(TEXT.slice(0, 5000), { address });
    expectOnce(address, wordsOf(TEXT.slice(0, 5000)));
  });

  it.each(['chat.startStream', 'chat.appendStream', 'chat.stopStream'])(
    'is not repeated if the answer to %s was lost',
    async (method) => {
      const address = await thread(channel);
      harness.server.faults.next(method, { type: 'answer lost' });
      await write(TEXT.slice(0, 5000), { address });
      expectOnce(address, wordsOf(TEXT.slice(0, 5000)));
    },
  );

  it('is not repeated if the process died, next to another stream', async () => {
    const address = await thread(channel);
    const other = open(address, 'job-2');
    for (const text of ['other words\n', 'other words\nand on'])
      await harness.update(other, { text, actions: [STOP] });
    await harness.show({ title: 'Thinking', actions: [STOP] }, { address });
    await startStreaming(address);
    const posted = harness.stored.at(-1);
    const again = { key: 'job-1', posted, mayHavePosted: true, remember: async () => {} };
    const whole = { title: 'Words', text: TEXT.slice(0, 5000), actions: [AGAIN] };
    await harness.createReplica().show(address, whole, again);
    await other.close({ text: 'other words go on' });
    expectOnce(address, wordsOf(TEXT.slice(0, 5000)));
    expect(
      botMessagesIn(address).filter((message) => readableText(message).includes('other words')),
    ).toHaveLength(1);
  });
});

describe('text in a direct message', () => {
  const direct = { ...ADDRESS, channel: 'D0ADA', direct: true };

  it('is streamed in the thread of its message, and moves into the message at the end', async () => {
    await write(TEXT.slice(0, 5000), {
      address: direct,
      between: async (step) => {
        if (step !== 6) return;
        const [first, ...streamed] = botMessagesIn(direct);
        expect(JSON.stringify(first?.blocks)).toContain('Stop');
        expect(streamed.map(({ threadTs }) => threadTs)).toEqual([first?.ts]);
      },
    });
    expectOnce(direct, wordsOf(TEXT.slice(0, 5000)));
    expect(botMessagesIn(direct).map(({ threadTs }) => threadTs)).toEqual([undefined]);
  });

  it('stays in its message while it is short', async () => {
    await write(TEXT.slice(0, 700), { address: direct });
    expect(harness.server.callsOf('chat.startStream')).toEqual([]);
    expectOnce(direct, wordsOf(TEXT.slice(0, 700)));
  });

  it('is one message if the process that streamed it died', async () => {
    await harness.show({ title: 'Words', actions: [STOP] }, { address: direct });
    const posted = harness.stored[0];
    await startStreaming(direct);
    const again = { key: 'job-1', posted, mayHavePosted: true, remember: async () => {} };
    await harness.createReplica().show(direct, { text: TEXT.slice(0, 5000), actions: [AGAIN] }, again);
    expectOnce(direct, wordsOf(TEXT.slice(0, 5000)));
    expect(botMessagesIn(direct)).toHaveLength(1);
  });
});

describe('concurrent streams', () => {
  it('start with their first words if the rate limit allows it', async () => {
    const writings = (await Promise.all([thread(), thread(), thread()])).map((address, index) =>
      open(address, `job-${index}`),
    );
    await Promise.all(writings.map((writing) => harness.update(writing, { text: TEXT.slice(0, 400) })));
    await harness.server.until(() => harness.server.callsOf('chat.startStream').length === 3);
    for (const writing of writings) await writing.close({ text: TEXT.slice(0, 400) });
    expect(harness.server.callsOf('chat.appendStream')).toEqual([]);
  });

  it('start no faster than Slack allows, and use edits otherwise', async () => {
    const addresses = await Promise.all(Array.from({ length: 6 }, () => thread()));
    const startedAt = harness.now();
    const writings = addresses.map((address, index) => open(address, `job-${index}`));
    for (let step = 1; step <= 6; step += 1)
      await Promise.all(
        writings.map((writing) =>
          harness.update(writing, { text: TEXT.slice(0, 400 * step), actions: [STOP] }),
        ),
      );
    await Promise.all(
      writings.map((writing) => writing.close({ text: TEXT.slice(0, 2400), actions: [AGAIN] })),
    );
    const startCount = harness.server.callsOf('chat.startStream').length;
    expect(startCount).toBeGreaterThan(0);
    expect(startCount).toBeLessThanOrEqual(4 + (harness.now() - startedAt) / (EDIT_GAP_MS * 2.5));
    const shown = harness.server.botMessages();
    expect(shown).toHaveLength(6);
    for (const message of shown) expect(wordsOf(readableText(message))).toEqual(wordsOf(TEXT.slice(0, 2400)));
    expect(openStreams()).toEqual([]);
  });

  it('continue while Slack allows no new stream', async () => {
    const writing = await startStreaming();
    // Longer than the test on any machine. Afterwards the first stream is too old to continue.
    harness.server.faults.every(1, 'chat.startStream', { type: 'ratelimited', retryAfter: 100_000 });
    const late = open({ ...ADDRESS, channel: 'D0ADA', direct: true }, 'job-2');
    for (const length of [2000, 3000]) await harness.update(late, { text: TEXT.slice(0, length) });
    const before = harness.server.callsOf('chat.appendStream').length;
    for (let step = 1; step <= 4; step += 1)
      await harness.update(writing, {
        title: 'Words',
        text: TEXT.slice(0, 4000 + 500 * step),
        actions: [STOP],
      });
    await harness.server.until(() => harness.server.callsOf('chat.appendStream').length > before);
    await late.close({ text: TEXT.slice(0, 3000) });
    await writing.close({ title: 'Words', text: TEXT, actions: [AGAIN] });
    expectWhole();
  });
});

describe('a stream that ends', () => {
  it('early continues in another stream', async () => {
    await write(TEXT, {
      between: async (step) => {
        if (step === 5 || step === 8) harness.server.endStreams();
      },
    });
    expectWhole();
    expect(harness.server.callsOf('chat.startStream').length).toBeGreaterThanOrEqual(3);
  });

  it("is replaced before Slack's limit of five minutes", async () => {
    await write(TEXT.slice(0, 9000), { between: async () => harness.passTime(60_000), whole: TEXT });
    expectWhole();
    expect(harness.server.callsOf('chat.startStream').length).toBeGreaterThanOrEqual(2);
  });

  it('is replaced before it is full', async () => {
    await write(TEXT);
    for (const { streaming } of harness.server.workspace.messages)
      expect(streaming?.text.length ?? 0).toBeLessThanOrEqual(12_000);
    expect(harness.server.callsOf('chat.startStream').length).toBeGreaterThanOrEqual(2);
    expectWhole();
  });
});

describe('a failed stream', () => {
  it.each([
    [
      'streaming is not supported',
      'chat.startStream',
      { type: 'error', error: 'method_not_supported_for_channel_type' },
    ],
    ['a scope is missing', 'chat.startStream', { type: 'error', error: 'missing_scope' }],
    ['Slack is down at the start', 'chat.startStream', { type: 'status', status: 503 }],
    ['the answer to the start was lost', 'chat.startStream', { type: 'answer lost' }],
    ['the answer to an append was lost', 'chat.appendStream', { type: 'answer lost' }],
    ['Slack is down during an append', 'chat.appendStream', { type: 'dropped' }],
    ['Slack sent an invalid answer', 'chat.appendStream', { type: 'nonsense' }],
    ['the answer to the end was lost', 'chat.stopStream', { type: 'answer lost' }],
  ] as const)('is written by edits, complete and once: %s', async (_why, method, fault) => {
    harness.server.faults.next(method, fault);
    await write(TEXT);
    expectWhole();
  });

  it.each(['chat.startStream', 'chat.appendStream', 'chat.stopStream'])(
    'waits for a Retry-After of %s',
    async (method) => {
      harness.server.faults.every(2, method, { type: 'ratelimited', retryAfter: 2 });
      await write(TEXT);
      expectWhole();
    },
  );

  it('is complete at the end in spite of frequent rate limits', async () => {
    harness.server.faults.every(3, '*', { type: 'ratelimited', retryAfter: 1 });
    await write(TEXT);
    harness.server.faults.clear();
    expectWhole();
  });
});

describe('a process that died while streaming', () => {
  const finalMessage: Message = { title: 'Words', text: TEXT, actions: [AGAIN] };

  /** Only the message above the stream was stored. */
  async function finish(message: Message) {
    const posted = harness.stored[0];
    await harness
      .createReplica()
      .show(ADDRESS, message, { key: 'job-1', posted, mayHavePosted: true, remember: async () => {} });
  }

  it.each([
    ['in the middle of a stream', () => {}],
    ['after Slack ended the stream', () => harness.server.endStreams()],
  ])('leaves one text after the next try: %s', async (_when, interfere) => {
    await harness.show({ title: 'Words', actions: [STOP] });
    await startStreaming();
    interfere();
    await finish(finalMessage);
    expectWhole();
  });

  it('leaves nothing of the stream if the next try posts only a sentence', async () => {
    await harness.show({ title: 'Words', actions: [STOP] });
    await startStreaming();
    await finish({ title: 'Words', text: 'That was interrupted.' });
    expect(harness.server.botMessages().map(readableText)).toEqual([
      expect.stringContaining('That was interrupted.'),
    ]);
  });
});

describe('the stable part of a growing text', () => {
  it('never changes, and ends with a word', () => {
    expect(stableText('', 'All is new')).toBe('All is ');
    expect(stableText('Some *words* he', 'Some *words* here and')).toBe('');
    expect(stableText('', 'A line\nand **bold**\n\nAnd mo')).toBe('A line\nand **bold**\n\nAnd ');
    expect(stableText('', 'A line\nand **bold**')).toBe('');
    expect(stableText('A line\nand **bold**', 'A line\nand **bold and on**')).toBe('A line\n');
    expect(stableText('', 'A line\n- ')).toBe('A line\n');
    expect(stableText('A line\n- ', 'A line\n- item one')).toBe('A line\n- item ');
  });

  it('does not change when markup is closed, if its last paragraph has none', () => {
    const tokens = ['word', ' ', '\n', '\n\n', '**', '_', '`', '\n```\n', '[', '](x)', '\n- ', '\n1. ', '# '];
    const part = fc.array(fc.constantFrom(...tokens)).map((chosen) => chosen.join(''));
    fc.assert(
      fc.property(
        part,
        part,
        fc.stringMatching(/^(?:\n\nword|word)[a-z \n]{0,20}$/),
        part,
        (before, more, plain, end) => {
          const text = before + more + plain;
          const stable = stableText(closeMarkdown(before), closeMarkdown(text));
          fc.pre(!/[*_`[\]]/.test(text.slice(Math.max(0, text.trimEnd().lastIndexOf('\n\n')))));
          expect(closeMarkdown(text + end).startsWith(stable)).toBe(true);
        },
      ),
    );
  });

  it('is a prefix of the text, and with markup also of the previous text', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (same, left, right) => {
        const stable = stableText(same + left, same + right);
        expect((same + right).startsWith(stable)).toBe(true);
        expect(`${same}*${left}`.startsWith(stableText(`${same}*${left}`, `${same}*\n${right}*`))).toBe(true);
      }),
    );
  });
});
