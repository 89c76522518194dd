import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Bot } from '../../../../src/core/bot/bot.ts';
import { defineCommand, defineSubcommand } from '../../../../src/core/bot/command.ts';
import type { Outcome } from '../../../../src/core/bot/outcome.ts';
import type { Invocation } from '../../../../src/core/invocation.ts';
import type { TerminalOptions } from '../../../../src/platforms/terminal/terminal.ts';
import { createVirtualScreen } from '../deliver/virtual-screen.ts';
import { openTerminal, type TerminalHarness } from '../harness.ts';

const HERE = { platform: 'terminal', channel: 'terminal', public: true, person: 'you' };

const song = defineCommand({
  name: 'song',
  description: 'Makes a song',
  options: {
    prompt: { type: 'text', description: 'What it is about', required: true },
    style: {
      type: 'text',
      description: 'Its style',
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
      options: { family: { type: 'text', description: 'Of what', required: true, autocomplete: true } },
      run: async () => ({ type: 'accepted', job: 'never', begin: () => {} }),
    }),
  },
  run: async () => ({ type: 'accepted', job: 'never', begin: () => {} }),
});

let outcome: Outcome;
const run = vi.fn<Bot['run']>();
const suggest = vi.fn<Bot['suggest']>();
const bot: Bot = { commands: [song, jobs, models, remix], run, suggest, refusal: async () => undefined };

let harness: TerminalHarness | undefined;
beforeEach(() => {
  outcome = { type: 'message', visibility: 'channel', message: { text: 'done' } };
  run.mockReset().mockImplementation(async () => outcome);
  suggest.mockReset().mockResolvedValue([{ name: 'Lo-fi', value: 'lofi' }]);
});
afterEach(() => harness?.close());

const invocations = (): Invocation[] => run.mock.calls.map(([invocation]) => invocation);

describe('play', () => {
  type JobOutcome = NonNullable<TerminalOptions['jobOutcome']>;
  async function open(jobOutcome: JobOutcome = async () => 'delivered') {
    harness = await openTerminal({ jobOutcome });
    await harness.terminal.start(bot);
    return { ...harness, play: harness.terminal.play };
  }

  test('shows the line as if it had been typed, and asks the bot', async () => {
    const { play, paper } = await open();
    expect(await play('/song a tune --style dark lofi --instrumental')).toBe('delivered');
    expect(paper.written()).toBe('\n› /song a tune --style dark lofi --instrumental\n\nMinstrel #1\ndone\n');
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

  test('begins an accepted job and waits for how it ends', async () => {
    const answers: ('delivered' | 'failed' | undefined)[] = [undefined, undefined, 'failed'];
    const asked = vi.fn<JobOutcome>(async () => answers.shift());
    const { play } = await open(asked);
    const begin = vi.fn();
    outcome = { type: 'accepted', job: 'job-7', begin };
    expect(await play('/song rain')).toBe('failed');
    expect(begin).toHaveBeenCalledOnce();
    expect(asked.mock.calls).toEqual([['job-7'], ['job-7'], ['job-7']]);
  });

  test('fails when the bot only says why not', async () => {
    const { play, paper } = await open();
    outcome = { type: 'message', visibility: 'person', message: { text: 'Too long.' } };
    expect(await play('/song rain')).toBe('failed');
    expect(paper.written()).toContain('Minstrel, to you alone\nToo long.\n');
  });

  test('delivers the private answer of a command whose answers are private', async () => {
    const { play } = await open();
    outcome = { type: 'message', visibility: 'person', message: { text: 'Nothing runs.' } };
    expect(await play('/jobs')).toBe('delivered');
  });

  test.each([
    ['/sonk rain', 'There is no command /sonk. Did you mean /song?'],
    ['/perform', 'There is no command /perform. Commands: /song /jobs /models /remix'],
    ['/song --style a --style b', '“style” was given twice.'],
    ['a tune for rain', 'Type a command such as /song a tune for rain'],
    ['7', 'There is no button 7 here.'],
  ])('says what is wrong with %j and asks no one', async (line, sentence) => {
    const { play, paper } = await open();
    expect(await play(line)).toBe('failed');
    expect(paper.written()).toContain(sentence);
    expect(run).not.toHaveBeenCalled();
  });

  test('of a form that no one can fill in says what it needs', async () => {
    const { play, paper } = await open();
    outcome = {
      type: 'form',
      form: { id: 'song', title: 'Song', submitLabel: 'Go', options: song.options, initial: {} },
    };
    expect(await play('/song')).toBe('failed');
    expect(paper.written()).toContain('This needs --prompt, and nobody is here to be asked.');
  });

  test('presses a button by its number', async () => {
    const { play, terminal } = await open();
    await terminal.show(
      HERE,
      { text: 'a song', actions: [{ type: 'action', id: 'song.extend:job-7:1', label: 'Extend' }] },
      { key: 'a', remember: async () => {} },
    );
    expect(await play('1')).toBe('delivered');
    expect(invocations()[0]).toMatchObject({
      command: 'song',
      action: { name: 'extend', job: 'job-7', index: 1 },
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
    expect(paper.written()).toContain('/models has no “constructor”. It knows set.');
    await play('help models');
    expect(paper.written()).toContain('/models set Chooses a model\n\n• --family Of what (needed)');
  });

  test('helps, with all commands or with one', async () => {
    const { play, paper } = await open();
    await play('help');
    expect(paper.written()).toContain('/song Makes a song');
    for (const line of ['help /song', '/song help', '/song --help', '/song —help', '/song ?', '? song']) {
      await play(line);
      expect(paper.written().split('/song Makes a song').length).toBe(2);
    }
    expect(paper.written().split('--prompt What it is about (needed)')).toHaveLength(7);
    expect(paper.written()).toContain('--voice Who sings: Female');
    expect(invocations()).toEqual([]);
  });
});

describe('typed lines', () => {
  async function open(screen = createVirtualScreen({ columns: 120 })) {
    const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} });
    const onEnd = vi.fn();
    harness = await openTerminal({ input, output: screen, onEnd });
    await harness.terminal.start(bot);
    return { ...harness, input, screen, onEnd };
  }

  test('run one after the other', async () => {
    const { input } = await open();
    input.write('/song one\r/song two\r');
    await expect.poll(() => run).toHaveBeenCalledTimes(2);
    expect(invocations().map(({ options }) => options.prompt)).toEqual(['one', 'two']);
  });

  test('that come ahead of a form’s questions are its answers', async () => {
    const { input, screen } = await open();
    input.write('/song\rrain\r\ryes\r\r/song snow\r');
    await expect.poll(() => run).toHaveBeenCalledTimes(2);
    expect(invocations().map(({ options }) => options)).toMatchObject([
      { prompt: 'rain', instrumental: true },
      { prompt: 'snow' },
    ]);
    expect(screen.seen()).toContain('prompt: What it is about (needed)?\nprompt › rain\n');
  });

  test('without what a command needs become questions, one by one', async () => {
    const { input, screen } = await open();
    input.write('/song\r');
    await expect.poll(() => screen.seen()).toContain('prompt: What it is about (needed)?');
    input.write('rain\r');
    await expect.poll(() => screen.seen()).toContain('style: Its style?');
    input.write('\r');
    await expect.poll(() => screen.seen()).toContain('instrumental: Without voices (yes, no)?');
    input.write('yes\r');
    await expect.poll(() => screen.seen()).toContain('voice: Who sings (Female)?');
    input.write('\r');
    await expect.poll(() => run).toHaveBeenCalledOnce();
    expect(invocations()[0]).toMatchObject({
      command: 'song',
      options: { prompt: 'rain', instrumental: true },
    });
  });

  test('of a form are checked one by one, and a wrong one costs none of the others', async () => {
    const { input, screen } = await open();
    const answer = async (field: string, typed: string, said = '') => {
      await expect.poll(() => screen.seen()).toMatch(new RegExp(`${field} ›$`));
      input.write(`${typed}\r`);
      await expect.poll(() => screen.seen()).toContain(said);
    };
    input.write('/song\r');
    await answer('prompt', '', 'Please give the option “prompt”');
    await answer('prompt', 'rain');
    await answer('style', '');
    await answer('instrumental', 'perhaps', '“instrumental” is either on or off.');
    await answer('instrumental', 'no');
    await answer('voice', 'Robot', '“voice” can be Female.');
    expect(run).not.toHaveBeenCalled();
    await answer('voice', 'female');
    await expect.poll(() => run).toHaveBeenCalledOnce();
    expect(invocations()[0]?.options).toEqual({ prompt: 'rain', instrumental: false, voice: 'f' });
  });

  test('of a form that the bot refuses are asked for again, with what they were', async () => {
    const { input, screen } = await open();
    const refused = { text: 'There is no such style.' };
    outcome = { type: 'message', visibility: 'person', message: refused, option: 'style' };
    input.write('/song\r');
    for (const [field, typed] of [
      ['prompt', 'rain'],
      ['style', 'lofi'],
      ['instrumental', ''],
      ['voice', 'f'],
    ]) {
      await expect.poll(() => screen.seen()).toMatch(new RegExp(`${field} ›$`));
      input.write(`${typed}\r`);
    }
    await expect.poll(() => screen.seen()).toContain('There is no such style.');
    await expect.poll(() => screen.seen()).toContain('style: Its style (now: lofi)?');
    outcome = { type: 'message', visibility: 'channel', message: { text: 'done' } };
    input.write('-\r');
    await expect.poll(() => run).toHaveBeenCalledTimes(2);
    expect(invocations()[0]?.options).toEqual({ prompt: 'rain', style: 'lofi', voice: 'f' });
    expect(invocations()[1]?.options).toEqual({ prompt: 'rain', voice: 'f' });
  });

  test('of a form are explained by a question mark and by Tab, and completed in words', async () => {
    const { input, screen } = await open();
    input.write('/song\r');
    await expect.poll(() => screen.seen()).toContain('prompt ›');
    input.write('?\r');
    await expect.poll(() => screen.seen()).toContain('--prompt What it is about (needed)');
    input.write('rain\r');
    await expect.poll(() => screen.seen()).toMatch(/style ›$/);
    input.write('l');
    await expect.poll(() => screen.seen()).toMatch(/style › l$/);
    input.write('\t');
    await expect.poll(() => screen.seen()).toMatch(/style › lofi$/);
    expect(suggest.mock.lastCall?.[0]).toMatchObject({ command: 'song', option: 'style', typed: 'l' });
    input.write('\r');
    await expect.poll(() => screen.seen()).toMatch(/instrumental ›$/);
    input.write('\r');
    await expect.poll(() => screen.seen()).toMatch(/voice ›$/);
    input.write('fe\t');
    await expect.poll(() => screen.seen()).toMatch(/voice › Female$/);
  });

  test('of a form of a button come back as that button, with what was in the form', async () => {
    const { input, screen } = await open();
    outcome = {
      type: 'form',
      form: {
        id: 'song.again:job-7:0',
        title: 'Again',
        submitLabel: 'Go',
        options: { style: { type: 'text', description: 'Its style' } },
        initial: { style: 'lofi' },
      },
    };
    input.write('/song rain\r');
    await expect.poll(() => screen.seen()).toContain('style: Its style (now: lofi)?');
    outcome = { type: 'message', visibility: 'channel', message: { text: 'done' } };
    input.write('\r');
    await expect.poll(() => run).toHaveBeenCalledTimes(2);
    expect(invocations()[1]).toMatchObject({
      command: 'song',
      action: { name: 'again', job: 'job-7', index: 0 },
      options: { style: 'lofi' },
    });
  });

  test('of a form give a file by its address', async () => {
    const { input, screen } = await open();
    input.write('/remix\r');
    await expect.poll(() => screen.seen()).toContain('(needed)?');
    input.write('https://files.example/rain.mp3\r');
    await expect.poll(() => run).toHaveBeenCalledOnce();
    expect(invocations()[0]?.options).toEqual({
      audio: { name: 'rain.mp3', url: 'https://files.example/rain.mp3' },
    });
  });

  test('of a form can be given up', async () => {
    const { input, screen, onEnd } = await open();
    input.write('/song\r');
    await expect.poll(() => screen.seen()).toContain('(needed)?');
    input.write('\u0003');
    await expect.poll(() => screen.seen()).toMatch(/›$/);
    input.write('/song rain\r');
    await expect.poll(() => run).toHaveBeenCalledOnce();
    expect(onEnd).not.toHaveBeenCalled();
  });

  test.each([
    ['/so', '› /song'],
    ['/models s', '› /models set'],
    ['/models set --family ', '› /models set --family lofi'],
    ['/song rain --sty', '› /song rain --style'],
    ['/song rain --voice ', '› /song rain --voice Female'],
    ['/song rain --voice fem', '› /song rain --voice Female'],
    ['/song rain --style ', '› /song rain --style lofi'],
  ])('%j is completed by Tab', async (typed, completed) => {
    const { input, screen } = await open();
    input.write(typed);
    input.write('\t');
    await expect.poll(() => screen.seen()).toBe(completed);
  });

  test.each(['\t', '?\r'])('that are empty but for %j bring help', async (keys) => {
    const { input, screen } = await open();
    input.write(keys);
    await expect.poll(() => screen.seen()).toContain('What you can type');
    expect(screen.seen()).toMatch(/›$/);
  });

  test('that could go on in several ways show them', async () => {
    const { input, screen } = await open();
    input.write('/song rain ');
    input.write('\t');
    await expect.poll(() => screen.seen()).toContain('--prompt   --style   --instrumental   --voice\n›');
    expect(screen.seen()).toMatch(/› \/song rain$/);
  });

  test.each([
    ['/song --style ra', '› /song --style "Rain (take 1)"'],
    ['/song --style "Ra', '› /song --style "Rain (take 1)"'],
    ['/song --style evening', '› /song --style "Rain (take 1)"'],
  ])('%j is completed by a name, where the value is an id', async (typed, completed) => {
    suggest.mockResolvedValue([{ name: 'Rain (take 1)', value: 'b3f0:0', typed: 'Rain (take 1)' }]);
    const { input, screen } = await open();
    input.write(typed);
    input.write('\t');
    await expect.poll(() => screen.seen()).toBe(completed);
  });

  test('several names go on as far as they have in common', async () => {
    const names = ['Rain (take 1)', 'Rain (take 2)'];
    suggest.mockResolvedValue(names.map((name, index) => ({ name, value: `b3f0:${index}`, typed: name })));
    const { input, screen } = await open();
    input.write('/song --style ra\t');
    // No quotation begins that a press of Enter would leave open.
    await expect.poll(() => screen.seen()).toBe('› /song --style Rain (take');
    input.write('\t');
    await expect.poll(() => screen.seen()).toContain('"Rain (take 1)"   "Rain (take 2)"\n›');
    expect(screen.seen()).toMatch(/› \/song --style Rain \(take$/);
    suggest.mockResolvedValue([{ name: 'Rain (take 2)', value: 'b3f0:1', typed: 'Rain (take 2)' }]);
    input.write('2\t');
    await expect.poll(() => screen.seen()).toMatch(/› \/song --style "Rain \(take 2\)"$/);
  });

  test('several names go on within a quotation that was begun', async () => {
    const names = ['Rain (take 1)', 'Rain (take 2)'];
    suggest.mockResolvedValue(names.map((name, index) => ({ name, value: `b3f0:${index}`, typed: name })));
    const { input, screen } = await open();
    input.write('/song --style "Ra\t');
    await expect.poll(() => screen.seen()).toBe('› /song --style "Rain (take');
  });

  test('completion knows the options that were typed before', async () => {
    const { input } = await open();
    input.write('/song rain --voice f --style l');
    input.write('\t');
    await expect
      .poll(() => suggest.mock.lastCall?.[0])
      .toMatchObject({ option: 'style', typed: 'l', options: { prompt: 'rain', voice: 'f' } });
  });

  test('of a pipe run without a prompt, and its end is told once they ran', async () => {
    const input = Object.assign(new PassThrough(), { isTTY: false });
    const onEnd = vi.fn();
    harness = await openTerminal({ input, onEnd });
    await harness.terminal.start(bot);
    input.end('/song one\n/song two\n');
    await expect.poll(() => onEnd).toHaveBeenCalledExactlyOnceWith('input-ended');
    expect(run).toHaveBeenCalledTimes(2);
    expect(harness.paper.written()).not.toContain('›');
  });

  test('stay below what is announced', async () => {
    const { input, screen, terminal } = await open();
    input.write('/so');
    await expect.poll(() => screen.seen()).toBe('› /so');
    terminal.announce('Listening at http://127.0.0.1:3000');
    expect(screen.seen()).toBe('Listening at http://127.0.0.1:3000\n› /so');
  });

  test('are not taken any more after stop', async () => {
    const { input, terminal } = await open();
    await terminal.stop();
    input.write('/song late\r');
    await terminal.stop();
    expect(run).not.toHaveBeenCalled();
  });
});
