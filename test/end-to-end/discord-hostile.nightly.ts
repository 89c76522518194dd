import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type DiscordServer,
  type InteractionHandle,
  labelsOf,
  type StoredMessage,
  startDiscord,
} from '../servers/discord/index.ts';
import { type RunningMinstrel, startMinstrel } from './minstrel.ts';

/** Everything people can do on Discord, with the whole bot, while Discord fails. */
const LOADING = 1 << 7;
/** The number of concurrent people. */
const AT_ONCE = 12;
const isRunning = (message: StoredMessage) =>
  (message.flags & LOADING) !== 0 ||
  labelsOf(message).some((label) => label === 'Cancel' || label === 'Stop');

let discord: DiscordServer;
let running: RunningMinstrel;

async function begin(): Promise<void> {
  // The bot, its gateway and Discord share one process here, so the deadline is longer. Other tests cover the 3 s.
  discord = await startDiscord({ responseDeadlineMs: 15_000 });
  const environment = {
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    MEDIA_ALLOWED_HOSTS: new URL(discord.origin).host,
  };
  running = await startMinstrel(environment);
  await discord.until(() => discord.commands.length > 0, 'registered commands');
}

async function end(): Promise<void> {
  await running?.[Symbol.asyncDispose]();
  await discord?.close();
}

/** Fills only a form's required fields and submits it. */
async function sendForm(form: InteractionHandle): Promise<InteractionHandle> {
  const { components } = await form.modal();
  const values: Record<string, string> = {};
  for (const { component } of components.flatMap((one) => ('component' in one ? [one] : []))) {
    if (component.type === 4 && component.required && !component.value)
      values[component.custom_id] = component.custom_id.endsWith(':number') ? '5' : 'A tune for rain';
    if ('options' in component && component.required !== false) {
      const chosen = component.options.find((option) => option.default) ?? component.options[0];
      if (chosen) values[component.custom_id] = chosen.value;
    }
  }
  return await discord.submitModal(form, values, { moderator: true });
}

/** Resolves to the last message of an interaction once all its work has ended. */
async function finalMessage(interaction: InteractionHandle): Promise<StoredMessage> {
  const callback = await discord.until(
    () => interaction.record.callback,
    `an answer to a ${interaction.record.kind}`,
  );
  if (callback === 9) return await finalMessage(await sendForm(interaction));
  return await discord.until(() => {
    const { messages } = interaction;
    return messages.length > 0 && !messages.some(isRunning) && messages.at(-1);
  }, `the end of a ${interaction.record.kind}`);
}

const ask = (name: string, options: Record<string, string | number | boolean> = {}) =>
  finalMessage(discord.command({ name, options, moderator: true }));

/** Settings that moderators change and reset, without effect on other people. */
function settings(): Record<string, Record<string, string | number | boolean>> {
  const bob = discord.world.addUser('Bob').id;
  return {
    'models set': { family: 'ask', model: 'chat-large', where: 'channel' },
    'models reset': { what: 'ask', where: 'channel' },
    'models answers': { prompt: 'Be brief.', footer: false, where: 'channel' },
    'limits set': { what: 'song', most: 200, per: 'day' },
    'limits deny': { what: 'video', who: bob },
    'limits allow': { what: 'video', who: bob },
    'limits reset': { what: 'video', who: bob },
    'limits report': { days: 7 },
    'minstrel audit': {},
  };
}

/** Runs every command, button, menu and completion concurrently. */
async function everything(): Promise<Map<string, StoredMessage>> {
  const results = new Map<string, StoredMessage>();
  const all = async (some: Record<string, () => Promise<StoredMessage>>) => {
    const waiting = Object.entries(some);
    const next = async (): Promise<void> => {
      for (let one = waiting.shift(); one; one = waiting.shift()) results.set(one[0], await one[1]());
    };
    await Promise.all(Array.from({ length: AT_ONCE }, next));
  };
  const message = discord.say({ text: 'The sea is loud at night' });
  await all({
    song: () => ask('song', { prompt: 'a tune for rain' }),
    lyrics: () => ask('lyrics', { topic: 'a lighthouse' }),
    image: () => ask('image', { prompt: 'a fox' }),
    video: () => ask('video', { prompt: 'waves', duration: '5' }),
    ask: () => ask('ask', { question: 'What is 6 times 7?' }),
    'Ask about this': () => finalMessage(discord.contextMenu({ name: 'Ask about this', message })),
    'Make a song from text': () =>
      finalMessage(discord.contextMenu({ name: 'Make a song from text', message })),
  });
  const quiet = ['jobs', 'models show', 'limits show', 'minstrel help', 'minstrel usage', 'voices show'];
  await all({
    stems: () => ask('stems', { split: 'separate_vocal' }),
    remix: () => ask('remix', { mode: 'cover', style: 'brass band' }),
    ...Object.fromEntries(quiet.map((name) => [name, () => ask(name)])),
  });
  // In sequence, because each shows the setting of the previous one.
  for (const [name, options] of Object.entries(settings())) results.set(name, await ask(name, options));
  for (const [name, option] of [
    ['ask', 'model'],
    ['stems', 'song'],
    ['song', 'voice'],
  ] as const) {
    // Late completions are empty, so only a response is certain.
    expect(await discord.autocomplete({ name, option, typed: '' })).toBeInstanceOf(Array);
  }
  const buttons = [...results].flatMap(([name, result]) =>
    // Other tests cover threads, and links leave the chat.
    labelsOf(result).flatMap((label = '') =>
      label === 'Continue in a thread' || label.startsWith('Open ')
        ? []
        : [
            [
              `${name}: ${label}`,
              () => finalMessage(discord.press(label, result, { moderator: true })),
            ] as const,
          ],
    ),
  );
  await all(Object.fromEntries(buttons));
  return results;
}

function expectGoodResults(results: ReadonlyMap<string, StoredMessage>): void {
  const files = (name: string) => results.get(name)?.attachments.map(({ filename }) => filename) ?? [];
  expect(files('song').filter((file) => file.endsWith('.mp3'))).toHaveLength(2);
  expect(files('stems').length).toBeGreaterThanOrEqual(2);
  expect(files('image')).toHaveLength(1);
  expect(files('video')).toHaveLength(1);
  expect(JSON.stringify(results.get('ask')?.embeds)).toContain('42');
  expect(labelsOf(results.get('song') as StoredMessage).length).toBeGreaterThan(5);
  for (const [name, result] of results) {
    expect(JSON.stringify(result), name).not.toMatch(/\breference\b/i);
    expect(result.pinged, name).toEqual([]);
  }
}

/** Repeats an action while other work runs. */
async function meanwhile<Value>(
  everyMs: number,
  act: () => void,
  work: () => Promise<Value>,
): Promise<Value> {
  const timer = setInterval(act, everyMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** Runs the work under certain conditions on Discord. */
type Conditions = <Value>(work: () => Promise<Value>) => Promise<Value>;

describe('every command, button, form and menu completes without a refused request', () => {
  beforeAll(() => begin());
  afterAll(end);
  afterEach(() => discord.faults.clear());

  it.each<[string, Conditions]>([
    ['without faults', (work) => work()],
    [
      'with 429 on every fifth request and a low limit of edits',
      (work) => {
        discord.faults.limitEvery(5);
        discord.faults.limitEdits(3, 400);
        return work();
      },
    ],
    [
      'with bursts of 5xx, dropped connections and reconnect requests',
      (work) => {
        let counted = discord.requests.length;
        let bursts = 0;
        return meanwhile(
          50,
          () => {
            // One burst per eight requests. Other tests cover outages.
            if (discord.requests.length < counted + 8) return;
            counted = discord.requests.length;
            bursts += 1;
            discord.faults.fail(503, { times: 2, path: /^(POST|PATCH|GET) \/(webhooks|channels)\// });
            if (bursts % 4 === 1) discord.gateway.drop();
            if (bursts % 4 === 3) discord.gateway.reconnect();
          },
          work,
        );
      },
    ],
  ])('%s', async (_name, conditions) => {
    const results = await conditions(everything);
    expectGoodResults(results);
    expect(discord.refused).toEqual([]);
    expect(running.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
