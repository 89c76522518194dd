import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HttpServer } from '../../../../src/http/server.ts';
import type { Platform } from '../../../../src/platforms/platform.ts';
import { type SlackServer, startSlackServer } from '../../../servers/slack/server.ts';
import type { Organisation } from '../../../servers/slack/workspace.ts';
import { ADDRESS, FakeBot } from '../harness.ts';
import { listenForSlack, oauthReplica } from './oauth-app.ts';

/** The app, installed by an organisation with two workspaces, and by a separate workspace. */
let server: SlackServer;
let listener: HttpServer;
let bot: FakeBot;
let stored: Map<string, unknown>;
let replicas: Platform[];
let organisation: Organisation;
let music: ReturnType<SlackServer['addToOrganisation']>;
let sales: ReturnType<SlackServer['addToOrganisation']>;

async function startReplica(): Promise<Platform> {
  const slack = oauthReplica({ server, stored });
  await slack.start(bot);
  replicas.push(slack);
  return slack;
}

beforeEach(async () => {
  server = await startSlackServer();
  bot = new FakeBot();
  stored = new Map();
  replicas = [];
  organisation = { id: 'E0BAND', name: 'Band', workspaces: [] };
  music = server.addToOrganisation(organisation, 'T0MUSIC', 'Music');
  sales = server.addToOrganisation(organisation, 'T0SALES', 'Sales');
  music.workspace.addUser({ id: 'U0MUSE', name: 'muse', organisation: 'E0BAND', admin: true });
  sales.workspace.addUser({ id: 'U0SAL', name: 'sal', organisation: 'E0BAND', admin: true });
  // Members of a channel that is shared by both workspaces and another company.
  music.workspace.addUser({
    id: 'U0GUEST',
    name: 'guest',
    organisation: 'E0BAND',
    team: 'T0SALES',
    admin: true,
  });
  music.workspace.addUser({ id: 'U0EVE', name: 'eve', team: 'T0ELSE', admin: true });
  music.workspace.addChannel({ id: 'C0BAND', name: 'band', members: ['U0MUSE', 'U0GUEST', 'U0EVE'] });
  sales.workspace.addChannel({ id: 'C0DEALS', name: 'deals', members: ['U0SAL'] });
  await startReplica();
  listener = await listenForSlack(server, () => replicas[0]);
  const { status, page } = await server.install(`${listener.url}/slack/install`, music.workspace);
  expect([status, page]).toEqual([200, expect.stringContaining('ready in Band')]);
});

afterEach(async () => {
  expect(server.refused).toEqual([]);
  for (const slack of replicas) await slack.close();
  await listener.close();
  await server.close();
});

const show = (slack: Platform | undefined, guild: string, channel: string) =>
  slack?.show({ ...ADDRESS, guild, channel }, { text: 'la' }, { key: 'k', remember: async () => {} });
/** An address in a workspace of the organisation. */
const addressInBand = (guild: string, channel: string) => ({
  ...ADDRESS,
  guild,
  channel,
  platformData: { organisation: 'E0BAND' },
});
const shown = (team: typeof music) => team.workspace.messages.filter(({ user }) => user === 'U0MINSTREL');

describe('an app that an organisation installed', () => {
  it('serves each workspace separately with one encrypted token', async () => {
    await music.slash('/song', 'rain', { user: 'U0MUSE', channel: 'C0BAND' });
    await sales.mention('hello', { user: 'U0SAL', channel: 'C0DEALS' });
    await server.until(() => bot.invocations.length === 2);
    expect(bot.invocations.map(({ address: { guild }, person }) => [guild, person.moderator])).toEqual([
      ['T0MUSIC', true],
      ['T0SALES', true],
    ]);
    expect([...stored.keys()].filter((key) => key.includes('installation'))).toEqual([
      'slack:installation:E0BAND',
    ]);
    expect(JSON.stringify([...stored])).not.toContain('xoxb-');
  });

  it('delivers a result after a restart, from a replica that saw no event', async () => {
    await sales.slash('/song', 'rain', { user: 'U0SAL', channel: 'C0DEALS' });
    await server.until(() => bot.started === 1);
    const restarted = await startReplica();
    const [invocation] = bot.invocations;
    await restarted.show(
      invocation?.address ?? ADDRESS,
      { text: 'la' },
      { key: 'k', remember: async () => {} },
    );
    expect(shown(sales)).toHaveLength(1);
    expect(shown(music)).toEqual([]);
    await expect(show(restarted, 'T0NOBODY', 'C0DEALS')).rejects.toMatchObject({ code: 'gone' });
  });

  it('gives moderator rights only in the home workspace, and detects visitors', async () => {
    for (const user of ['U0MUSE', 'U0GUEST', 'U0EVE'])
      await music.slash('/song', 'rain', { user, channel: 'C0BAND' });
    await server.until(() => bot.invocations.length === 3);
    expect(bot.invocations.map(({ person: { moderator, visitor } }) => [moderator, visitor])).toEqual([
      [true, undefined],
      [false, undefined],
      [false, true],
    ]);
  });

  it('attributes forms and buttons to the workspace, although Slack names the organisation', async () => {
    await music.slash('/song', '', { user: 'U0MUSE', channel: 'C0BAND' });
    const form = await server.until(() => [...music.workspace.views.values()].find(({ open }) => open));
    await music.submitView(form, { prompt: 'rain' });
    await server.until(() => bot.invocations.length === 1);
    await replicas[0]?.show(
      addressInBand('T0MUSIC', 'C0BAND'),
      { text: 'la', actions: [{ type: 'action', id: 'song.again:j1:0', label: 'Again' }] },
      { key: 'k', remember: async () => {} },
    );
    const [message] = shown(music);
    if (message === undefined) throw new Error('no message was posted');
    await music.press(message, 'Again', { user: 'U0MUSE' });
    await server.until(() => bot.invocations.length === 2);
    expect(bot.invocations.map(({ address: { guild }, person }) => [guild, person.moderator])).toEqual([
      ['T0MUSIC', true],
      ['T0MUSIC', true],
    ]);
  });

  it('is removed from all workspaces of the organisation, but not from a separate one', async () => {
    await server.install(`${listener.url}/slack/install`, server.workspace);
    await music.slash('/song', 'rain', { user: 'U0MUSE', channel: 'C0BAND' });
    await server.until(() => bot.started === 1);
    await music.uninstall();
    const showing = replicas[0]?.show(
      addressInBand('T0MUSIC', 'C0BAND'),
      { text: 'la' },
      { key: 'k', remember: async () => {} },
    );
    await expect(showing).rejects.toMatchObject({ code: 'gone' });
    await show(replicas[0], 'T0MINSTREL', 'C0MUSIC');
    expect(server.botMessages()).toHaveLength(1);
  });
});
