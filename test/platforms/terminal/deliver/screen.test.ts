import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Message } from '../../../../src/core/message.ts';
import { openTerminal, SILENT_BOT, type TerminalHarness } from '../harness.ts';
import { createVirtualScreen } from './virtual-screen.ts';

const HERE = { platform: 'terminal', channel: 'terminal', person: 'you' };
const STARTED_AT = 1_700_000_000_000;
const composing: Message = {
  title: 'Composing',
  progress: { stage: 'waiting for the gateway', startedAt: STARTED_AT, estimateMs: 40_000 },
  actions: [{ type: 'action', id: 'song.cancel:job1:0', label: 'Cancel' }],
};
const remember = async () => {};

let harness: TerminalHarness | undefined;
afterEach(() => harness?.close());

async function openScreen(
  options: { columns?: number; typed?: boolean; now?: () => number; colours?: boolean } = {},
) {
  const screen = createVirtualScreen(options);
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} });
  const onEnd = vi.fn();
  harness = await openTerminal({
    output: screen,
    onEnd,
    ...(options.typed && { input }),
    ...(options.now && { now: options.now }),
  });
  await harness.terminal.start(SILENT_BOT);
  return { ...harness, screen, input, onEnd };
}

test('progress is one line that changes, and is gone when the result is shown', async () => {
  let time = STARTED_AT;
  const { terminal, screen } = await openScreen({ now: () => time });
  await terminal.show(HERE, composing, { key: 'a', remember });
  expect(screen.seen()).toMatch(
    /^\S {2}Composing: waiting for the gateway · usually about 0:40 {2}\[1\] Cancel$/,
  );
  time += 12_000;
  await expect.poll(() => screen.seen()).toContain('waiting for the gateway · 0:12 ·');
  expect(screen.seen().split('\n')).toHaveLength(1);
  await terminal.show(HERE, { title: 'Rain', text: 'Here it is.' }, { key: 'a', remember });
  expect(screen.seen()).toBe('\nMinstrel #1\nRain\nHere it is.');
});

test('a wait that has an end is told with its time where lines do not change', async () => {
  harness = await openTerminal();
  const progress = { stage: 'it is asked again', startedAt: STARTED_AT, until: STARTED_AT + 50_000 };
  await harness.terminal.show(HERE, { title: 'Composing', progress }, { key: 'a', remember });
  expect(harness.paper.written()).toContain('it is asked again · until 22:14:10 UTC');
});

test('a wait that has an end is counted down', async () => {
  let time = STARTED_AT;
  const { terminal, screen } = await openScreen({ now: () => time });
  const progress = { stage: 'it is asked again', startedAt: STARTED_AT, until: STARTED_AT + 50_000 };
  await terminal.show(HERE, { title: 'Composing', progress }, { key: 'a', remember });
  time += 10_000;
  await expect.poll(() => screen.seen()).toContain('it is asked again · 0:10 · for 0:40 more');
});

test('several things running have a line each, below what stays', async () => {
  const { terminal, screen } = await openScreen();
  await terminal.show(HERE, composing, { key: 'a', remember });
  await terminal.show(HERE, { ...composing, title: 'Painting' }, { key: 'b', remember });
  await terminal.show(HERE, { text: 'Quick answer' }, { key: 'c', remember });
  const lines = screen.seen().split('\n');
  expect(lines.slice(0, 3)).toEqual(['', 'Minstrel #3', 'Quick answer']);
  expect(lines[3]).toContain('Composing:');
  expect(lines[4]).toContain('Painting:');
  expect(lines).toHaveLength(5);
});

test('a growing text shows its newest words, and every paragraph once in the end', async () => {
  const { terminal, screen } = await openScreen();
  const stream = terminal.stream(HERE, { key: 'a', remember });
  stream.update(() => ({ text: 'First **paragraph**.\n\nSecond par' }));
  await expect.poll(() => screen.seen()).toContain('Second par');
  stream.update(() => ({ text: 'First **paragraph**.\n\nSecond paragraph.\n\nThi' }));
  await expect.poll(() => screen.seen()).toContain('Thi');
  await stream.close({ text: 'First **paragraph**.\n\nSecond paragraph.\n\nThird.', footer: 'The end' });
  expect(screen.seen()).toBe(
    ['', 'Minstrel #1', 'First paragraph.', '', 'Second paragraph.', '', 'Third.', 'The end'].join('\n'),
  );
});

test('what stays is broken between words, and goes on under its beginning', async () => {
  const { terminal, screen } = await openScreen({ columns: 24 });
  const text =
    'Rain falls on every roof.\n\n- a bullet that needs more than a line\n\n> said by somebody long ago';
  await terminal.show(HERE, { text }, { key: 'a', remember });
  expect(screen.seen().split('\n').slice(2)).toEqual([
    'Rain falls on every',
    'roof.',
    '',
    '• a bullet that needs',
    '  more than a line',
    '',
    '│ said by somebody long',
    '│ ago',
  ]);
});

test('a row of buttons is broken between buttons', async () => {
  const { terminal, screen } = await openScreen({ columns: 30 });
  const actions = ['Extend take 1', 'Keep voice', 'Again'].map((label, index) => ({
    type: 'action' as const,
    id: `song.do:j:${index}`,
    label,
  }));
  await terminal.show(HERE, { actions }, { key: 'a', remember });
  expect(screen.seen().split('\n').slice(2)).toEqual(['[1] Extend take 1', '[2] Keep voice   [3] Again']);
});

test('a growing text shows its newest words on a narrow screen, too', async () => {
  const { terminal, screen } = await openScreen({ columns: 24 });
  const stream = terminal.stream(HERE, { key: 'a', remember });
  stream.update(() => ({ text: 'It rains on every roof and on the newest' }));
  await expect.poll(() => screen.seen()).toContain('It rains on every roof\nand on the newest\n');
  await stream.close({ text: 'It rains.' });
});

test('a terminal that closes tells in one line that something was being made', async () => {
  const { terminal, screen } = await openScreen({ typed: true });
  await terminal.show(HERE, { text: 'A result' }, { key: 'a', remember });
  await terminal.show(HERE, composing, { key: 'b', remember });
  await terminal.close();
  const [last = '', ...before] = screen.seen().split('\n').toReversed();
  expect(last).toBe('Stopped. The next start takes up what was being made.');
  expect(before.toReversed()).toEqual(['', 'Minstrel #1', 'A result']);
});

test('a line that is too long for the screen is cut while it changes, and whole when it stays', async () => {
  const { terminal, screen } = await openScreen({ columns: 30 });
  const stage = '雨の歌を作っています'.repeat(5);
  await terminal.show(HERE, { progress: { stage, startedAt: STARTED_AT } }, { key: 'a', remember });
  expect(screen.seen().split('\n')).toHaveLength(1);
  expect(screen.seen()).toContain('…');
  await terminal.show(HERE, { text: stage }, { key: 'a', remember });
  expect(screen.seen().replace(/\n/g, '')).toContain(stage);
});

describe('the typed line', () => {
  test('stays whole at the bottom while results come in', async () => {
    const { terminal, screen, input } = await openScreen({ typed: true });
    input.write('/song a tu');
    await expect.poll(() => screen.seen()).toBe('› /song a tu');
    await terminal.show(HERE, composing, { key: 'a', remember });
    await terminal.show(HERE, { text: 'A result' }, { key: 'b', remember });
    const lines = screen.seen().split('\n');
    expect(lines.slice(0, 3)).toEqual(['', 'Minstrel #2', 'A result']);
    expect(lines[3]).toContain('Composing');
    expect(lines[4]).toBe('› /song a tu');
  });

  test('becomes part of what stays when it is entered', async () => {
    const { terminal, screen, input } = await openScreen({ typed: true });
    await terminal.show(HERE, composing, { key: 'a', remember });
    input.write('hello\r');
    await expect.poll(() => screen.seen()).toContain('Minstrel, to you alone');
    const lines = screen.seen().split('\n');
    expect(lines[0]).toBe('› hello');
    expect(lines.at(-2)).toContain('Composing');
    expect(lines.at(-1)).toBe('›');
    expect(screen.seen().match(/Composing/g)).toHaveLength(1);
  });

  test('that wraps is redrawn without a trace', async () => {
    const { terminal, screen, input } = await openScreen({ typed: true, columns: 20 });
    input.write('/song a tune that is longer than the screen');
    await expect.poll(() => screen.seen()).toContain('creen');
    await terminal.show(HERE, { text: 'A result' }, { key: 'a', remember });
    expect(screen.seen()).toBe(
      ['', 'Minstrel #1', 'A result', '› /song a tune that', 'is longer than the s', 'creen'].join('\n'),
    );
  });

  test.each([
    ['exit', 'exit\r'],
    ['Ctrl+C', '\u0003'],
    ['Ctrl+D', '\u0004'],
  ])('ends by %s', async (_name, keys) => {
    const { input, onEnd } = await openScreen({ typed: true });
    input.write(keys);
    await expect.poll(() => onEnd).toHaveBeenCalledExactlyOnceWith('asked');
  });
});

describe('colours', () => {
  test('are used where the terminal has them', async () => {
    const { terminal, screen } = await openScreen({ colours: true });
    await terminal.show(HERE, { text: '**bold**' }, { key: 'a', remember });
    expect(screen.raw()).toContain('\u001b[1mbold');
  });

  test('are not where it has none, or the person wants none', async () => {
    const { terminal, screen } = await openScreen({ colours: false });
    await terminal.show(HERE, { text: '**bold** `code`' }, { key: 'a', remember });
    expect(screen.raw()).toContain('\nbold code\n');
  });
});
