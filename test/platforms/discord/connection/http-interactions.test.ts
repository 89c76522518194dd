import { generateKeyPairSync, sign } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { webhookRoutes } from '../../../../src/http/platform-routes.ts';
import { createHttpServer, type HttpServer } from '../../../../src/http/server.ts';
import { createSignatureCheck } from '../../../../src/platforms/discord/connection/webhook.ts';
import { accept, type Harness, type HarnessOptions, Remembered, startHarness } from '../harness.ts';

let harness: Harness | undefined;
let listener: HttpServer | undefined;

/** The adapter behind a real listener, to which the local Discord posts its interactions. */
async function start(options: HarnessOptions = {}): Promise<Harness> {
  const started = await startHarness({
    adapter: (discord) => ({ publicKey: discord.publicKey }),
    ...options,
  });
  harness = started;
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const path = '/discord/interactions';
  const receive = started.platform.receive;
  if (!receive) throw new Error('The adapter takes nothing by HTTP');
  listener = await createHttpServer({
    host: '127.0.0.1',
    port: 0,
    log,
    routes: [webhookRoutes({ path, receive })],
  });
  started.discord.interactionsUrl = `${listener.url}${path}`;
  return started;
}

afterEach(async () => {
  await listener?.close();
  await harness?.close();
  harness = undefined;
  listener = undefined;
});

const PING = { id: '1', application_id: '2', type: 1, token: 't', version: 1 };

describe('interactions over HTTP', () => {
  it('answer a ping in the response', async () => {
    const { discord } = await start();
    const response = await discord.deliver(PING);
    expect([response.status, await response.json()]).toEqual([200, { type: 1 }]);
    expect(response.headers.get('content-type')).toContain('application/json');
  });

  it('run commands, buttons, forms and completions by the same code, files included', async () => {
    const { discord, bot, media, platform } = await start();
    const begun = accept(bot);
    const song = discord.command({ name: 'song', options: { prompt: 'rain' } });
    expect(await song.acknowledged()).toBe(5);
    const { address } = await begun;
    await platform.show(
      address,
      {
        title: 'Rain',
        media: [
          {
            kind: 'audio',
            name: 'rain.mp3',
            source: { type: 'kept', file: media.keep('k', new Uint8Array([1, 2, 3])) },
          },
        ],
        actions: [{ type: 'action', id: 'song.voice:j:0', label: 'Keep voice' }],
      },
      new Remembered('j'),
    );
    const card = await song.response();
    expect(card.attachments.map(({ filename }) => filename)).toEqual(['rain.mp3']);
    bot.answer = async () => ({
      type: 'form',
      form: {
        id: 'song.voice:j:0',
        title: 'Keep',
        submitLabel: 'Keep',
        options: { name: { type: 'text', description: 'Its name' } },
        initial: {},
      },
    });
    const form = discord.press('Keep voice', card);
    expect(await form.acknowledged()).toBe(9);
    bot.answer = async () => ({ type: 'message', visibility: 'person', message: { text: 'Kept.' } });
    expect((await (await discord.submitModal(form, { name: 'Ada' })).response()).content).toBe('Kept.');
    bot.choices = async () => [{ name: 'V5', value: 'V5' }];
    expect(await discord.autocomplete({ name: 'song', option: 'model', typed: 'V' })).toHaveLength(1);
    expect(discord.refused).toEqual([]);
  });

  it('work while the gateway is away', async () => {
    const { discord, platform, bot } = await start({
      idle: true,
      prepare: (server) => server.faults.fail(503, { times: 1_000, path: /gateway/ }),
    });
    await platform.start(bot);
    expect(platform.status()).toMatchObject({ ready: false });
    discord.commands.push(...(await registered()));
    const ask = discord.command({ name: 'ask', options: { question: 'why?' } });
    expect((await ask.response()).content).toBe('Done.');
    expect(discord.gateway.identifies).toBe(0);
    expect(discord.refused).toEqual([]);
  });

  it('are all there is when no connection is wanted: commands are registered, and the bot is ready', async () => {
    const { discord, platform } = await start({
      adapter: (server) => ({ publicKey: server.publicKey, httpOnly: true }),
    });
    expect(platform.status()).toEqual({ ready: true });
    expect(discord.gateway.identifies).toBe(0);
    const ask = discord.command({ name: 'ask', options: { question: 'why?' } });
    expect((await ask.response()).content).toBe('Done.');
    expect(discord.requests.filter((request) => request.includes('gateway'))).toEqual([]);
    expect(discord.refused).toEqual([]);
  });

  it('do not tell who can read a channel, so Discord is asked: threads belong to their channel', async () => {
    const { discord, platform } = await start({
      adapter: (server) => ({ publicKey: server.publicKey, httpOnly: true }),
    });
    const { world } = discord;
    const guild = discord.guild.id;
    const open = world.addChannel('open', { guildId: guild });
    const staff = world.addChannel('staff', { guildId: guild });
    staff.deniedToPeople.add('ViewChannel');
    const thread = (parentId: string, type: 11 | 12) =>
      world.addChannel('t', { guildId: guild, parentId, type }).id;
    const asked = (channel: string, where: { guild?: string } = { guild }) =>
      platform.isPublic?.({ platform: 'discord', channel, person: 'ada', ...where });
    expect(await asked(open.id)).toBe(true);
    expect(await asked(staff.id)).toBe(false);
    expect(await asked(thread(open.id, 11))).toBe(true);
    expect(await asked(thread(staff.id, 11))).toBe(false);
    expect(await asked(thread(open.id, 12))).toBe(false);
    expect(await asked(open.id, { guild: '1' })).toBeUndefined();
    const closed = world.addChannel('closed', { guildId: guild, denied: ['ViewChannel'] });
    await expect(asked(closed.id)).rejects.toThrow();
  });

  it('are refused unless Discord signed them just now', async () => {
    const { discord, bot } = await start();
    const seconds = Math.floor(discord.now() / 1000);
    const stranger = generateKeyPairSync('ed25519').privateKey;
    const forged = sign(null, Buffer.from(`${seconds}${JSON.stringify(PING)}`), stranger).toString('hex');
    const attempts = [
      { signature: forged },
      { signature: '' },
      { signature: 'z'.repeat(128) },
      { signature: 'ab'.repeat(63) },
      { timestamp: seconds - 301 },
      { timestamp: seconds + 302 },
    ];
    for (const attempt of attempts) expect((await discord.deliver(PING, attempt)).status).toBe(401);
    for (const timestamp of [seconds - 290, seconds + 290])
      expect((await discord.deliver(PING, { timestamp })).status).toBe(200);
    const bare = await fetch(discord.interactionsUrl ?? '', { method: 'POST', body: JSON.stringify(PING) });
    expect(bare.status).toBe(401);
    expect(bot.invocations).toEqual([]);
  });

  it('that make no sense are told so', async () => {
    const { discord, bot } = await start();
    for (const body of [[], {}, { type: 'command' }]) expect((await discord.deliver(body)).status).toBe(400);
    // A kind that Discord may add one day is taken, and written into the log.
    expect((await discord.deliver({ ...PING, type: 99 })).status).toBe(202);
    expect(bot.invocations).toEqual([]);
  });

  it('are not taken once the bot stops', async () => {
    const { discord, platform } = await start();
    await platform.stop();
    expect((await discord.deliver({ ...PING, type: 2 })).status).toBe(503);
    expect((await discord.deliver(PING)).status).toBe(200);
  });
});

describe('the proof', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const hex = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex');
  const body = Buffer.from([0xff, 0x00, 0x7b]);
  const signed = (timestamp: string) =>
    sign(null, Buffer.concat([Buffer.from(timestamp), body]), privateKey).toString('hex');
  const check = createSignatureCheck(hex, () => 1_700_000_000_000);
  const request = (timestamp: string | string[], signature: string | string[]) => ({
    headers: { 'x-signature-timestamp': timestamp, 'x-signature-ed25519': signature },
    body,
  });

  it('is over the timestamp and the raw bytes', () => {
    expect(check(request('1700000000', signed('1700000000')))).toBe(true);
    expect(check(request('1700000000', signed('1700000000').toUpperCase()))).toBe(true);
    expect(check({ ...request('1700000000', signed('1700000000')), body: Buffer.from('{') })).toBe(false);
    expect(check(request('1700000001', signed('1700000000')))).toBe(false);
  });

  it('takes nothing that is not a number of seconds, and no header twice', () => {
    for (const timestamp of ['', ' 1700000000', '17e8', '-1', 'NaN', '1700000000.0'])
      expect(check(request(timestamp, signed(timestamp)))).toBe(false);
    expect(check(request(['1700000000'], signed('1700000000')))).toBe(false);
    expect(check(request('1700000000', [signed('1700000000')]))).toBe(false);
  });
});

/** What another replica has registered before. */
async function registered() {
  const other = await startHarness();
  const commands = [...other.discord.commands];
  await other.close();
  return commands;
}
