import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { defineCommand, defineSubcommand } from '../../../src/core/bot/command.ts';
import type { Bot } from '../../../src/core/bot/create-bot.ts';
import type { Outcome } from '../../../src/core/bot/outcome.ts';
import type { Invocation } from '../../../src/core/invocation.ts';
import { SILENT_BOT } from '../../core/silent-bot.ts';
import { createPaper, openTerminal, type TerminalHarness } from './harness.ts';

const ADDRESS = { platform: 'terminal', channel: 'terminal', public: true, person: 'you' };

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
    return { ...harness, runLine: harness.terminal.run };
  }

  test('runs a command and prints the answer', async () => {
    const { runLine, paper } = await open();
    expect(await runLine('/song a tune --style dark lofi --instrumental')).toBe('answered');
    expect(paper.written()).toBe('\nMinstrel #1\ndone\n');
    expect(invocations()).toEqual([
      {
        id: 'invocation-1',
        command: 'song',
        options: { prompt: 'a tune', style: 'dark lofi', instrumental: true },
        address: ADDRESS,
        person: { id: 'you', displayName: 'you', moderator: true, roles: [] },
      },
    ]);
  });

  test('starts an accepted job', async () => {
    const { runLine } = await open();
    const begin = vi.fn();
    outcome = { type: 'accepted', job: 'job-7', begin };
    expect(await runLine('/song rain')).toEqual({ job: 'job-7' });
    expect(begin).toHaveBeenCalledOnce();
  });

  test('prints the private reply of a job whose result is private', async () => {
    const { runLine, paper } = await open();
    outcome = {
      type: 'accepted',
      job: 'job-7',
      begin: () => {},
      reply: { text: 'Your entry is being made.' },
    };
    expect(await runLine('/song rain')).toEqual({ job: 'job-7' });
    expect(paper.written()).toContain('Minstrel (only visible to you)\nYour entry is being made.\n');
  });

  test('is refused if the bot only returns a private error', async () => {
    const { runLine, paper } = await open();
    outcome = { type: 'message', visibility: 'person', message: { text: 'Too long.' } };
    expect(await runLine('/song rain')).toBe('refused');
    expect(paper.written()).toContain('Minstrel (only visible to you)\nToo long.\n');
  });

  test('counts a private answer as an answer if the command answers privately', async () => {
    const { runLine } = await open();
    outcome = { type: 'message', visibility: 'person', message: { text: 'Nothing runs.' } };
    expect(await runLine('/jobs')).toBe('answered');
  });

  test.each([
    ['/sonk rain', "I don't know /sonk. Did you mean /song?"],
    ['/perform', "I don't know /perform. Use /minstrel help to see all commands."],
    ['/song --style a --style b', 'You used --style twice.'],
    ['a tune for rain', 'Type a command such as /minstrel'],
    ['7', 'There is no button 7. Type the number or name of a button above.'],
  ])('reports the error in %j without running a command', async (line, sentence) => {
    const { runLine, paper } = await open();
    expect(await runLine(line)).toBe('refused');
    expect(paper.written()).toContain(sentence);
    expect(run).not.toHaveBeenCalled();
  });

  test('cancels a form that nobody can fill in', async () => {
    const { runLine, paper } = await open();
    outcome = {
      type: 'form',
      form: { id: 'song', title: 'Song', submitLabel: 'Go', options: song.options, initial: {} },
    };
    expect(await runLine('/song')).toBe('refused');
    expect(paper.written()).toContain('Cancelled. Nothing was started.');
  });

  test.each([
    ['1', 'job-6'],
    ['2', 'job-7'],
    ['extend', 'job-7'],
  ])('%j presses the matching button', async (line, job) => {
    const { runLine, terminal } = await open();
    for (const key of ['job-6', 'job-7'])
      await terminal.show(
        ADDRESS,
        { text: 'a song', actions: [{ type: 'action', id: `song.extend:${key}:1`, label: 'Extend' }] },
        { key, remember: async () => {} },
      );
    expect(await runLine(line)).toBe('answered');
    expect(invocations()[0]).toMatchObject({
      command: 'song',
      action: { name: 'extend', job, index: 1 },
      options: {},
    });
  });

  test('runs subcommands', async () => {
    const { runLine, paper } = await open();
    await runLine('/models set image');
    await runLine('/models');
    await runLine('/models constructor').catch(() => {});
    expect(invocations().slice(0, 2)).toMatchObject([
      { command: 'models', subcommand: 'set', options: { family: 'image' } },
      { command: 'models', options: {} },
    ]);
    expect(invocations()).toHaveLength(2);
    expect(paper.written()).toContain('/models has no subcommand “constructor”. Choose one of: set.');
    await runLine('help models');
    expect(paper.written()).toContain(
      '**/models set** Chooses a model\n\n- **--family** Requests to limit (required)',
    );
  });

  test('shows help for all commands or one', async () => {
    const { runLine, paper } = await open();
    await runLine('help');
    expect(paper.written()).toContain('**/song** Makes a song');
    for (const line of ['help /song', '/song help', '/song --help', '/song —help', '/song ?', '? song']) {
      await runLine(line);
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

  test('run in order', async () => {
    const { input } = await open();
    input.write('/song one\r/song two\r');
    await expect.poll(() => run).toHaveBeenCalledTimes(2);
    expect(invocations().map(({ options }) => options.prompt)).toEqual(['one', 'two']);
  });

  test('are followed by a question for a missing or invalid option, keeping the other options', async () => {
    const { input, screen, answer } = await open();
    run.mockResolvedValueOnce(missing('prompt')).mockResolvedValueOnce(missing('prompt'));
    input.write('/song --instrumental\r');
    await expect.poll(screen.written).toContain('**--prompt** What it is about (required)');
    await answer('prompt', '');
    await answer('prompt', 'rain');
    await expect.poll(() => run).toHaveBeenCalledTimes(3);
    expect(invocations()[2]?.options).toEqual({ instrumental: true, prompt: 'rain' });
  });

  test('fill in a form field by field, with its initial values', async () => {
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
      action: { name: 'again', job: 'job-7', index: 0 },
      isForm: true,
      options: { prompt: 'rain', instrumental: 'yes', voice: 'f' },
    });
  });

  test('answer questions even if typed ahead or piped', async () => {
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

  test('accept a URL as a file', async () => {
    const { input, answer } = await open();
    run.mockResolvedValueOnce(missing('audio'));
    input.write('/remix\r');
    await answer('audio', 'https://files.example/rain.mp3');
    await expect.poll(() => run).toHaveBeenCalledTimes(2);
    expect(invocations()[1]?.options).toEqual({
      audio: { name: 'rain.mp3', url: 'https://files.example/rain.mp3' },
    });
  });

  test('cancel a form on Ctrl-C', async () => {
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

  test('cancel each job once on Ctrl-C, newest first, then exit', async () => {
    const { input, screen, terminal, onExit } = await open();
    for (const key of ['job-6', 'job-7'])
      await terminal.show(
        ADDRESS,
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

  test('exit on "exit"', async () => {
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
  ])('complete %j on Tab', async (typed, completed) => {
    const { input, screen } = await open();
    input.write(typed);
    input.write('\t');
    await expect.poll(screen.written).toContain(completed.slice(2 + typed.length));
  });

  test('complete an answer like the option of its command', async () => {
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

  test('stay below announcements', async () => {
    const { input, screen, terminal } = await open();
    input.write('/so');
    await expect.poll(screen.written).toContain('/so');
    terminal.announce('Listening at \u001b[32mhttp://127.0.0.1:3000\u001b[39m');
    expect(screen.written()).toMatch(/Listening at http:\/\/127\.0\.0\.1:3000\n› \/so$/);
  });

  test('are ignored after stop', async () => {
    const { input, terminal } = await open();
    await terminal.stop();
    input.write('/song late\r');
    await terminal.stop();
    expect(run).not.toHaveBeenCalled();
  });
});
