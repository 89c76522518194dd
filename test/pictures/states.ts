/** Captures and draws the messages of every command in each of their states, on both chats, light and dark. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type FaultyEmulator, startFaultyEmulator } from '../emulator/faulty.ts';
import { type BothChats, startOnBothChats } from '../end-to-end/both-chats.ts';
import type { StoredMessage } from '../servers/discord/index.ts';
import { discordForm, discordPage, type Requested } from './discord.ts';
import { type Html, html, type Scheme } from './html.ts';
import { type Shown, slackPage, slackView } from './slack.ts';

/** Slow enough to see each stage of a song. */
const SPEED = 0.5;
const PUBLIC_URL = 'https://minstrel.example';
const LYRICS = '[Verse]\nRain on the window, a tune for the night\n\n[Chorus]\nLet it fall';

interface State {
  readonly name: string;
  readonly draw: (scheme: Scheme) => Html | Promise<Html>;
}

type Options = Parameters<BothChats['discord']['command']>[0]['options'];

/** One person uses a command on both chats. */
interface Use {
  readonly name: string;
  /** As on Discord, such as `limits set`. */
  readonly command: string;
  readonly options?: Options;
  readonly moderator?: boolean;
}

/** Draws the states of the wanted groups, or of all, into the folder: dark beside light, as `<state>-<chat>.png`. */
export async function drawStates(
  folder: string,
  wanted: readonly string[],
  draw: (html: Html) => Promise<Buffer>,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const port = 20_000 + (process.pid % 20_000);
  // Songs have pages only if everyone can reach the bot, so the emulator takes this name for this machine.
  const reach: typeof fetch = (url, init) =>
    fetch(String(url).replace(PUBLIC_URL, `http://127.0.0.1:${port}`), init);
  await using emulator = closing(await startFaultyEmulator({ speed: SPEED, fetch: reach }));
  await using chats = await startOnBothChats(
    () => ({
      PUBLIC_URL,
      PORT: String(port),
      CONCURRENCY: 'song=2, video=1',
      UNIT_PRICES: 'song 10',
      USAGE_LIMITS: 'person 50/day',
    }),
    { emulator },
  );
  for await (const { name, draw: drawn } of capture(chats, emulator, wanted)) {
    const both = html`<main style="display: flex">${await drawn('dark')}${await drawn('light')}</main>`;
    const file = join(folder, `${name}.png`);
    await writeFile(file, await draw(both));
    process.stdout.write(`${file}\n`);
  }
}

const closing = (emulator: FaultyEmulator) =>
  Object.assign(emulator, { [Symbol.asyncDispose]: () => emulator.close() });

async function* capture(
  chats: BothChats,
  emulator: FaultyEmulator,
  wanted: readonly string[],
): AsyncGenerator<State> {
  const use = usesOf(chats);
  const job = (name: string, command: string, options: Options, stages = false) =>
    use.job({ name, command, options }, stages);
  const moderator = true;
  const asModerator = (name: string, options: Options = {}) => ({
    name: name.replace(' ', '-'),
    command: name,
    options,
    moderator,
  });
  async function* song() {
    yield* job('song', 'song', { prompt: 'a tune for evening rain', style: 'lofi, soft piano' }, true);
    yield* use.press({ name: 'extend', button: 'Extend 1', submit: true });
    yield* use.press({ name: 'stems', button: 'Stems 1', submit: true });
    yield* use.press({ name: 'wav', button: 'Take 1: WAV' });
    yield* use.press({ name: 'karaoke', button: 'Take 1: Karaoke' });
    yield* use.press({ name: 'cover-art', button: 'Cover art' });
  }
  async function* songs() {
    yield* use.reply(asModerator('pages set', { songs: 'off' }));
    yield* job('song-lyrics', 'song', { lyrics: LYRICS, title: 'Let it fall', style: 'folk' });
    yield* job('song-instrumental', 'song', { prompt: 'a slow waltz', instrumental: true });
    yield* job('lyrics', 'lyrics', { topic: 'the last train home' }, true);
  }
  async function* pictures() {
    yield* job('image', 'image', { prompt: 'a lighthouse at night, in oil' }, true);
    yield* job('video', 'video', { prompt: 'waves breaking on a rocky coast at dawn' }, true);
  }
  async function* ask() {
    yield* job('ask', 'ask', { question: 'Write an essay about the craft of lullabies' });
    yield* job('ask-table', 'ask', { question: 'Compare vinyl and cassette in a table' });
    yield* job('ask-code', 'ask', { question: 'Write a function that counts syllables' });
    yield* job('ask-list', 'ask', { question: 'Explain the mixolydian scale' });
    yield* job('ask-song', 'ask', { question: 'Create a song about the sea' });
  }
  async function* failure() {
    emulator.addFault({ fault: 'body-code=400', path: 'generate' });
    yield* job('failure', 'song', { prompt: 'a march' });
    emulator.clearFaults();
  }
  async function* forms() {
    for (const command of ['song', 'image', 'video', 'ask', 'lyrics', 'stems', 'remix'])
      yield* use.form({ name: `form-${command}`, command });
    for (const command of ['limits set', 'limits deny', 'models set', 'models answers', 'schedule add'])
      yield* use.form({ ...asModerator(command), name: `form-${command.replace(' ', '-')}` });
  }
  async function* replies() {
    yield* job('ask-sum', 'ask', { question: 'What is 6 times 7?' });
    yield* job('lyrics-short', 'lyrics', { topic: 'rain' });
    yield* use.reply(asModerator('limits set', { what: 'song', most: 5 }));
    yield* use.reply(asModerator('limits deny', { what: 'video' }));
    yield* use.reply(asModerator('limits show'));
    yield* use.reply(asModerator('limits report', { days: 7 }));
    yield* use.reply(asModerator('models show'));
    yield* use.reply(asModerator('models set', { family: 'ask', model: 'chat:chat-large' }));
    yield* use.reply(asModerator('pages show'));
    const schedule = { what: 'song', when: 'every friday at 17:00', prompt: 'the week in one chorus' };
    yield* use.reply(asModerator('schedule add', schedule));
    yield* use.reply(asModerator('schedule show'));
    yield* use.reply(asModerator('minstrel audit'));
    yield* use.reply(asModerator('minstrel help'));
    yield* use.reply({ name: 'help', command: 'minstrel help' });
    yield* use.reply({ name: 'usage', command: 'minstrel usage' });
    yield* use.reply({ name: 'voices', command: 'voices show' });
    yield* use.home();
  }
  const groups = { song, songs, pictures, ask, failure, queue: use.queue, forms, replies };
  for (const [name, states] of Object.entries(groups)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    yield* states();
  }
}

function usesOf({ discord, slack }: BothChats) {
  const slackFile = (id: string) => slack.workspace.files.get(id)?.bytes;
  const slackWords = (options: Options = {}) =>
    Object.entries(options)
      .map(([name, value]) => (value === true ? `--${name}` : `--${name} "${String(value)}"`))
      .join(' ');
  const slackMessages = () => slack.botMessages().filter(({ threadTs }) => threadTs === undefined);
  const shown = (ts: string, blocks: readonly unknown[]): Shown => ({
    blocks,
    replies: slack
      .botMessages()
      .filter(({ threadTs }) => threadTs === ts)
      .flatMap(({ files }) => files),
    openMenu: true,
  });
  const isDone = (text: string) => /again|animate/i.test(text) && !/"(?:Cancel|Stop)"|cancel:/.test(text);
  let latest: { discord: StoredMessage; slack: string } | undefined;

  const onDiscord = (name: string, requested: readonly Requested[]): State => ({
    name: `${name}-discord`,
    draw: (scheme) => discordPage(requested, scheme),
  });
  const onSlack = (name: string, messages: readonly Shown[]): State => ({
    name: `${name}-slack`,
    draw: (scheme) => slackPage(messages, slackFile, scheme),
  });

  async function* finished(
    name: string,
    by: string,
    message: () => StoredMessage | undefined,
    slackTs: () => string | undefined,
    stages: boolean,
  ) {
    const done = await discord.until(() => {
      const found = message();
      return found && isDone(JSON.stringify(found.components)) && found;
    });
    if (stages)
      for (const [index, state] of distinctStages(done.history).entries())
        yield onDiscord(`${name}-${index + 1}`, [{ by, message: { ...done, ...state } }]);
    yield onDiscord(name, [{ by, message: done, openMenu: true }]);
    const ts = await slack.until(() => {
      const ts = slackTs();
      const found = slackMessages().find((one) => one.ts === ts);
      return found && isDone(JSON.stringify(found.blocks)) && ts;
    });
    // Files are shared after the message.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const found = slackMessages().find((one) => one.ts === ts);
    if (!found) return;
    if (stages)
      for (const [index, { blocks }] of distinctStages(found.revisions).entries())
        yield onSlack(`${name}-${index + 1}`, [{ blocks }]);
    yield onSlack(name, [shown(found.ts, found.blocks)]);
    latest = { discord: done, slack: found.ts };
  }

  async function* reply({ name, command, options = {}, moderator = false }: Use) {
    const message = await discord.command({ name: command, options, moderator }).response();
    yield onDiscord(name, [{ by: command, message }]);
    const user = moderator ? 'U0BOB' : 'U0ADA';
    const before = slack.ephemeralsOf(user).length;
    const [first = '', ...rest] = command.split(' ');
    await slack.slash(`/${first}`, `${rest.join(' ')} ${slackWords(options)}`.trim(), { user });
    await slack.until(() => slack.ephemeralsOf(user).length > before);
    const blocks = slack
      .ephemeralsOf(user)
      .slice(before)
      .map((one) => ({ blocks: one.blocks, isPrivate: true, openMenu: true }));
    yield onSlack(name, blocks);
  }

  /** Undefined if the command has required options: Discord asks for those itself. */
  async function modalOf(command: string, moderator: boolean) {
    try {
      return await discord.command({ name: command, moderator, options: {} }).modal();
    } catch {
      return undefined;
    }
  }

  return {
    async *job({ name, command, options = {} }: Use, stages = false) {
      const before = slackMessages().length;
      const interaction = discord.command({ name: command, options });
      await slack.slash(`/${command}`, slackWords(options));
      yield* finished(
        name,
        command,
        () => interaction.messages.at(-1),
        () => slackMessages()[before]?.ts,
        stages,
      );
    },

    /** Presses a button of the latest result. */
    async *press({ name, button, submit = false }: { name: string; button: string; submit?: boolean }) {
      const result = latest;
      if (!result) throw new TypeError('There is no result');
      const before = slackMessages().length;
      let interaction = discord.press(button, result.discord);
      const message = slackMessages().find(({ ts }) => ts === result.slack);
      if (!message) throw new TypeError('There is no result on Slack');
      await slack.press(message, button.replace(/^Take (\d): (.+)$/, '$2 take $1'));
      if (submit) {
        const modal = await interaction.modal();
        yield { name: `form-${name}-discord`, draw: (scheme: Scheme) => discordForm(modal, scheme) };
        interaction = await discord.submitModal(interaction, {});
        const view = await slack.until(() => slack.openView());
        yield { name: `form-${name}-slack`, draw: (scheme: Scheme) => slackView(view.view, scheme) };
        await slack.submitView(view, {});
      }
      yield* finished(
        name,
        'song',
        () => interaction.messages.at(-1),
        () => slackMessages()[before]?.ts,
        false,
      );
      latest = result;
    },

    /** Three simultaneous songs, one of them in the queue, and the list of jobs. */
    async *queue() {
      const songs = ['a reel', 'a jig', 'an air'].map((prompt) =>
        discord.command({ name: 'song', options: { prompt } }),
      );
      const before = slackMessages().length;
      for (const prompt of ['a reel', 'a jig', 'an air']) await slack.slash('/song', prompt);
      const waiting = await discord.until(() =>
        songs
          .map(({ original }) => original)
          .find((message) => JSON.stringify(message?.embeds).includes('queue')),
      );
      yield onDiscord('queue', [{ by: 'song', message: structuredClone(waiting) }]);
      const onSlackWaiting = await slack.until(() =>
        slackMessages()
          .slice(before)
          .find(({ blocks }) => JSON.stringify(blocks).includes('queue')),
      );
      yield onSlack('queue', [{ blocks: structuredClone(onSlackWaiting.blocks) }]);
      yield* reply({ name: 'jobs', command: 'jobs' });
      for (const song of songs) await song.message(({ components }) => isDone(JSON.stringify(components)));
    },

    async *form({ name, command, moderator = false }: Use) {
      const modal = await modalOf(command, moderator);
      if (modal) yield { name: `${name}-discord`, draw: (scheme: Scheme) => discordForm(modal, scheme) };
      const user = moderator ? 'U0BOB' : 'U0ADA';
      const before = slack.openView(user);
      const [first = '', ...rest] = command.split(' ');
      await slack.slash(`/${first}`, `${rest.join(' ')} ?`.trim(), { user });
      const view = await slack.until(() => {
        const open = slack.openView(user);
        return open !== before && open;
      });
      yield { name: `${name}-slack`, draw: (scheme: Scheme) => slackView(view.view, scheme) };
    },

    reply,

    async *home() {
      await slack.openHome({ user: 'U0BOB' });
      const view = await slack.until(() => slack.homeOf('U0BOB'));
      yield { name: 'home-slack', draw: (scheme: Scheme) => slackView(view.view, scheme) };
    },
  };
}

/** All states but the last, which is the result. Skips those that look like the one before. */
function distinctStages<Item extends object>(history: readonly Item[]): Item[] {
  const key = ({ at: _, attachments: __, ...state }: Item & { at?: unknown; attachments?: unknown }) =>
    JSON.stringify(state);
  return history
    .slice(0, -1)
    .filter((state, index) => index === 0 || key(state) !== key(history[index - 1] ?? state));
}
