import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { defineCommand, defineSubcommand } from '../../../src/core/bot/command.ts';
import type { Bot } from '../../../src/core/bot/create-bot.ts';
import type { Outcome } from '../../../src/core/bot/outcome.ts';
import type { Invocation } from '../../../src/core/invocation.ts';
import { SILENT_BOT } from '../../core/silent-bot.ts';
import { createPaper, openTerminal, type TerminalHarness } from './harness.ts';

const HERE = { platform: 'terminal', channel: 'terminal', public: true, person: 'you' };

const song = defineCommand({
  name: 'song',
  description: 'Makes a song',
  options: {
    prompt: { type: 'text', description: 'What it is about', required: true },
    style: {
      type: 'text',
      description: 'Style',
      autocomplete: true,
    },
    instrumental: { type: 'flag', description: 'Without voices' },
    voice: { type: 'choice', description: 'Who sings', choices: [{ name: 'Female', value: 'f' }] },
  },
  run: async () => ({ type: 'accepted', job: 'never', begin: () => {} }),
});
const jobs = defineCommand({
  name: 'jobs',
  description: 'Lists what runs',
  options: {},
  answersPrivately: true,
  run: async () => ({ type: 'accepted', job: 'never', begin: () => {} }),
});

const remix = defineCommand({
  name: 'remix',
  description: 'Changes a song',
  options: {
    audio: { type: 'file', description: 'A song', accept: ['audio'], maximumBytes: 1000, required: true },
  },
  run: async () => ({ type: 'accepted', job: 'never', begin: () => {} }),
});

const models = defineCommand({
  name: 'models',
  description: 'Which models are used here',
  options: {},
  subcommands: {
    set: defineSubcommand({
      description: 'Chooses a model',
      options: {
        family: { type: 'text', description: 'Requests to limit', required: true, autocomplete: true },
      },
      run: async () => ({ type: 'accepted', job: 'never', begin: () => {} }),
    }),
  },
  run: async () => ({ type: 'accepted', job: 'never', begin: () => {} }),
});

let outcome: Outcome;
const run = vi.fn<Bot['run']>();
const suggest = vi.fn<Bot['suggest']>();
const bot: Bot = { ...SILENT_BOT, commands: [song, jobs, models, remix], run, suggest };

let harness: TerminalHarness | undefined;
beforeEach(() => {
  outcome = { type: 'message', visibility: 'channel', message: { text: 'done' } };
  run.mockReset().mockImplementation(async () => outcome);
  suggest.mockReset().mockResolvedValue([{ name: 'Lo-fi', value: 'lofi' }]);
});
afterEach(() => harness?.close());

const invocations = (): Invocation[] => run.mock.calls.map(([invocation]) => invocation);

describe('a line', () => {
  async function open() {
    harness = await openTerminal();
    await harness.terminal.start(bot);
    return { ...harness, play: harness.terminal.run };
  }

  test('asks the bot, and its answer is printed', async () => {
    const { play, paper } = await open();
    expect(await play('/song a tune --style dark lofi --instrumental')).toBe('answered');
    expect(paper.written()).toBe('\nMinstrel #1\ndone\n');
    expect(invocations()).toEqual([
      {
        id: 'invocation-1',
        command: 'song',
        options: { prompt: 'a tune', style: 'dark lofi', instrumental: true },
        address: HERE,
        person: { id: 'you', displayName: 'you', moderator: true, roles: [] },
      },
    ]);
  });

  test('begins an accepted job', async () => {
    const { play } = await open();
    const begin = vi.fn();
    outcome = { type: 'accepted', job: 'job-7', begin };
    expect(await play('/song rain')).toEqual({ job: 'job-7' });
    expect(begin).toHaveBeenCalledOnce();
  });

  test('is refused when the bot only says why not', async () => {
    const { play, paper } = await open();
    outcome = { type: 'message', visibility: 'person', message: { text: 'Too long.' } };
    expect(await play('/song rain')).toBe('refused');
    expect(paper.written()).toContain('Minstrel (only visible to you)\nToo long.\n');
  });

  test('delivers the private answer of a command whose answers are private', async () => {
    const { play } = await open();
    outcome = { type: 'message', visibility: 'person', message: { text: 'Nothing runs.' } };
    expect(await play('/jobs')).toBe('answered');
  });

  test.each([
    ['/sonk rain', "I don't know /sonk. Did you mean /song?"],
    ['/perform', "I don't know /perform. Use /minstrel to see all commands."],
    ['/song --style a --style b', 'You used --style twice.'],
    ['a tune for rain', 'Type a command such as /song a tune for rain'],
    ['7', "Button 7 doesn't exist."],
  ])('says what is wrong with %j and asks no one', async (line, sentence) => {
    const { play, paper } = await open();
    expect(await play(line)).toBe('refused');
    expect(paper.written()).toContain(sentence);
    expect(run).not.toHaveBeenCalled();
  });

  test('of a form that no one can fill in starts nothing', async () => {
    const { play, paper } = await open();
    outcome = {
      type: 'form',
      form: { id: 'song', title: 'Song', submitLabel: 'Go', options: song.options, initial: {} },
    };
    expect(await play('/song')).toBe('refused');
    expect(paper.written()).toContain('Cancelled. Nothing was started.');
  });

  test.each([
    ['1', 'job-6'],
    ['2', 'job-7'],
    ['extend', 'job-7'],
  ])('%j presses the button that has it', async (line, job) => {
    const { play, terminal } = await open();
    for (const key of ['job-6', 'job-7'])
      await terminal.show(
        HERE,
        { text: 'a song', actions: [{ type: 'action', id: `song.extend:${key}:1`, label: 'Extend' }] },
        { key, remember: async () => {} },
      );
    expect(await play(line)).toBe('answered');
    expect(invocations()[0]).toMatchObject({
      command: 'song',
      action: { name: 'extend', job, index: 1 },
      options: {},
    });
  });

  test('knows the parts of a command', async () => {
    const { play, paper } = await open();
    await play('/models set image');
    await play('/models');
    await play('/models constructor').catch(() => {});
    expect(invocations().slice(0, 2)).toMatchObject([
      { command: 'models', subcommand: 'set', options: { family: 'image' } },
      { command: 'models', options: {} },
    ]);
    expect(invocations()).toHaveLength(2);
    expect(paper.written()).toContain('/models has no subcommand “constructor”. Choose one of set.');
    await play('help models');
    expect(paper.written()).toContain(
      '**/models set** Chooses a model\n\n- **--family** Requests to limit (required)',
    );
  });

  test('helps, with all commands or with one', async () => {
    const { play, paper } = await open();
    await play('help');
    expect(paper.written()).toContain('**/song** Makes a song');
    for (const line of ['help /song', '/song help', '/song --help', '/song —help', '/song ?', '? song']) {
      await play(line);
      expect(paper.written().split('**/song** Makes a song').length).toBe(2);
    }
    expect(paper.written().split('**--prompt** What it is about (required)')).toHaveLength(7);
    expect(paper.written()).toContain('**--voice** Who sings: Female');
    expect(invocations()).toEqual([]);
  });
});

describe('typed lines', () => {
  async function open() {
    const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} });
    const screen = Object.assign(createPaper(), { isTTY: true, columns: 120 });
    const onExit = vi.fn();
    harness = await openTerminal({ input, output: screen, onExit });
    await harness.terminal.start(bot);
    const answer = async (field: string, typed: string) => {
      await expect.poll(screen.written).toMatch(new RegExp(`${field} › $`));
      input.write(`${typed}\r`);
    };
    return { ...harness, input, screen, onExit, answer };
  }
  const missing = (option: string): Outcome => ({
    type: 'message',
    visibility: 'person',
    message: { text: `Please give ${option}` },
    option,
  });
  const form = (id: string, initial = {}): Outcome => ({
    type: 'form',
    form: { id, title: 'Again', submitLabel: 'Go', options: song.options, initial },
  });

  test('run one after the other', async () => {
    const { input } = await open();
    input.write('/song one\r/song two\r');
    await expect.poll(() => run).toHaveBeenCalledTimes(2);
    expect(invocations().map(({ options }) => options.prompt)).toEqual(['one', 'two']);
  });

  test('are followed by the question for what is missing or wrong, which costs none of the others', async () => {
    const { input, screen, answer } = await open();
    run.mockResolvedValueOnce(missing('prompt')).mockResolvedValueOnce(missing('prompt'));
    input.write('/song --instrumental\r');
    await expect.poll(screen.written).toContain('**--prompt** What it is about (required)');
    await answer('prompt', '');
    await answer('prompt', 'rain');
    await expect.poll(() => run).toHaveBeenCalledTimes(3);
    expect(invocations()[2]?.options).toEqual({ instrumental: true, prompt: 'rain' });
  });

  test('answer a form one by one, with what was in it', async () => {
    const { input, screen, answer } = await open();
    run.mockResolvedValueOnce(form('song.again:job-7:0', { prompt: 'rain', style: 'lofi', voice: 'f' }));
    input.write('/song rain\r');
    await expect.poll(screen.written).toContain('--prompt** What it is about (required) (now: rain)');
    await answer('prompt', '');
    await answer('style', '-');
    await answer('instrumental', 'yes');
    await answer('voice', '');
    await expect.poll(() => run).toHaveBeenCalledTimes(2);
    expect(invocations()[1]).toMatchObject({
      command: 'song',
      action: { name: 'again', job: 'job-7', index: 0, sent: true },
      options: { prompt: 'rain', instrumental: 'yes', voice: 'f' },
    });
  });

  test('that come ahead of questions are their answers, also from a pipe', async () => {
    const input = Object.assign(new PassThrough(), { isTTY: false });
    const onExit = vi.fn();
    harness = await openTerminal({ input, onExit });
    run.mockResolvedValueOnce(missing('prompt'));
    await harness.terminal.start(bot);
    input.end('/song\nrain\n/song snow\n');
    await expect.poll(() => run).toHaveBeenCalledTimes(3);
    expect(invocations().map(({ options }) => options.prompt)).toEqual([undefined, 'rain', 'snow']);
    expect(harness.paper.written()).not.toContain('›');
    await harness.terminal.stop();
    expect(onExit).not.toHaveBeenCalled();
  });

  test('give a file by its address', async () => {
    const { input, answer } = await open();
    run.mockResolvedValueOnce(missing('audio'));
    input.write('/remix\r');
    await answer('audio', 'https://files.example/rain.mp3');
    await expect.poll(() => run).toHaveBeenCalledTimes(2);
    expect(invocations()[1]?.options).toEqual({
      audio: { name: 'rain.mp3', url: 'https://files.example/rain.mp3' },
    });
  });

  test('of a form are given up by Ctrl-C', async () => {
    const { input, screen, onExit } = await open();
    run.mockResolvedValueOnce(missing('prompt'));
    input.write('/song\r');
    await expect.poll(screen.written).toMatch(/prompt › $/);
    input.write('ra\u0003');
    await expect.poll(screen.written).toContain('Cancelled. Nothing was started.');
    input.write('/song rain\r');
    await expect.poll(() => run).toHaveBeenCalledTimes(2);
    expect(onExit).not.toHaveBeenCalled();
  });

  test('Ctrl-C cancels the newest work once, and then leaves', async () => {
    const { input, screen, terminal, onExit } = await open();
    for (const key of ['job-6', 'job-7'])
      await terminal.show(
        HERE,
        {
          title: 'Rain',
          progress: { stage: 'Composing', startedAt: 1 },
          actions: [{ type: 'action', id: `song.cancel:${key}:0`, label: 'Cancel' }],
        },
        { key, remember: async () => {} },
      );
    expect(screen.written()).toContain('… Rain: Composing [2] Cancel\n');
    input.write('\u0003');
    await expect.poll(() => run).toHaveBeenCalledTimes(1);
    input.write('\u0003');
    await expect.poll(() => run).toHaveBeenCalledTimes(2);
    expect(invocations().map(({ action }) => action?.job)).toEqual(['job-7', 'job-6']);
    input.write('\u0003');
    await expect.poll(() => onExit).toHaveBeenCalledOnce();
    await terminal.close();
    expect(screen.written()).toContain('Stopped. Unfinished jobs resume at the next start.');
  });

  test('exit leaves', async () => {
    const { input, onExit } = await open();
    input.write('exit\r');
    await expect.poll(() => onExit).toHaveBeenCalledOnce();
  });

  test.each([
    ['/so', '› /song '],
    ['/models s', '› /models set '],
    ['/models set --family l', '› /models set --family lofi'],
    ['/song rain --sty', '› /song rain --style '],
    ['/song rain --voice fem', '› /song rain --voice Female'],
  ])('%j is completed by Tab', async (typed, completed) => {
    const { input, screen } = await open();
    input.write(typed);
    input.write('\t');
    await expect.poll(screen.written).toContain(completed.slice(2 + typed.length));
  });

  test('an answer is completed as the option of its command', async () => {
    const { input, screen } = await open();
    run.mockResolvedValueOnce(missing('voice'));
    input.write('/song rain\r');
    await expect.poll(screen.written).toMatch(/voice › $/);
    input.write('fe\t');
    await expect.poll(screen.written).toContain('Female');
    input.write('\r');
    await expect.poll(() => run).toHaveBeenCalledTimes(2);
    expect(invocations()[1]?.options).toEqual({ prompt: 'rain', voice: 'Female' });
  });

  test('stay below what is announced', async () => {
    const { input, screen, terminal } = await open();
    input.write('/so');
    await expect.poll(screen.written).toContain('/so');
    terminal.announce('Listening at \u001b[32mhttp://127.0.0.1:3000\u001b[39m');
    expect(screen.written()).toMatch(/Listening at http:\/\/127\.0\.0\.1:3000\n› \/so$/);
  });

  test('are not taken any more after stop', async () => {
    const { input, terminal } = await open();
    await terminal.stop();
    input.write('/song late\r');
    await terminal.stop();
    expect(run).not.toHaveBeenCalled();
  });
});
