import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PATIENCE_MS } from '../../../end-to-end/minstrel.ts';
import { type Harness, startHarness } from '../harness.ts';

/** Slack's API is slow, limits the rate or fails while people interact. */
let harness: Harness;

beforeEach(async () => {
  harness = await startHarness();
});

afterEach(async () => {
  expect(harness.server.refused).toEqual([]);
  await harness.stop();
});

describe('while Slack does not return the person', () => {
  it('acknowledges every interaction in time, and continues with the name in the event', async () => {
    const { server, bot, show } = harness;
    await show({ text: 'A song', actions: [{ type: 'action', id: 'song.again:j1:0', label: 'Again' }] });
    await server.slash('/song');
    const form = await server.until(() => server.openView());
    await server.openHome();
    const [posted] = server.botMessages();
    if (posted === undefined) throw new Error('no message was posted');
    harness.passTime(6 * 60_000);
    server.hold('users.info');
    const interactions = await Promise.all([
      server.slash('/song', 'rain', { user: 'U0BOB' }),
      server.press(posted, 'Again', { user: 'U0BOB' }),
      server.submitView(form, { prompt: 'snow' }),
      server.shortcut('form:song'),
      server.messageShortcut('message-menu:ask', posted),
    ]);
    expect(interactions.map(({ acknowledged }) => acknowledged)).toEqual([true, true, true, true, true]);
    expect(await server.suggest(form, 'voice', 'a')).toEqual([{ text: 'a', value: 'a' }]);
    await server.until(() => bot.started === 3);
    // Bob was never looked up; Ada is cached.
    const people = bot.invocations.map(({ person }) => [person.displayName, person.rightsUnknown ?? false]);
    expect(people.toSorted()).toEqual([
      ['ada', false],
      ['bob', true],
      ['bob', true],
    ]);
  });

  it('acknowledges 500 commands of two people with two look-ups', async () => {
    await harness.stop();
    // The speed of the machine does not matter here.
    harness = await startHarness({ ackTimeoutMs: PATIENCE_MS });
    const { server, bot } = harness;
    server.hold('users.info');
    const commands = Array.from({ length: 500 }, (_, index) =>
      server.slash('/song', `song ${index}`, { user: index % 2 === 0 ? 'U0ADA' : 'U0BOB' }),
    );
    const acknowledged = await Promise.all(commands);
    expect(acknowledged.filter((delivery) => !delivery.acknowledged)).toEqual([]);
    await server.until(() => bot.started === 500);
    expect(server.callsOf('users.info')).toHaveLength(2);
  });
});

it('acknowledges commands although Slack did not identify the bot at the start', async () => {
  await harness.stop();
  harness = await startHarness({
    injectFaults: ({ faults }) => faults.next('auth.test', { type: 'dropped' }),
  });
  harness.server.hold('auth.test');
  const { server, bot } = harness;
  const { acknowledged } = await server.slash('/song', 'rain');
  expect(acknowledged).toBe(true);
  await server.until(() => bot.started === 1);
  expect(bot.invocations[0]?.address.guild).toBe('T0MINSTREL');
});

it('retries a failed look-up', async () => {
  const { server, bot } = harness;
  server.faults.next('users.info', { type: 'error', error: 'internal_error' });
  await server.slash('/song', 'rain', { user: 'U0BOB' });
  await server.until(() => bot.started === 1);
  expect(bot.invocations[0]?.person).toMatchObject({ displayName: 'bob', moderator: true });
});

it('uses the name in the event while look-ups are limited, and reads the person afterwards', async () => {
  const { server, bot } = harness;
  server.faults.next('users.info', { type: 'ratelimited', retryAfter: 30 }, 2);
  await server.slash('/song', 'rain', { user: 'U0BOB' });
  await server.slash('/song', 'rain', { user: 'U0ADA' });
  await server.until(() => bot.started === 2);
  for (const { person } of bot.invocations) expect(person).toMatchObject({ rightsUnknown: true });
  for (const { person } of bot.invocations) expect(person.visitor).toBeUndefined();
  harness.passTime(31_000);
  await server.slash('/song', 'rain', { user: 'U0ADA' });
  await server.until(() => bot.started === 3);
  expect(bot.invocations[2]?.person.rightsUnknown).toBeUndefined();
});

it('opens a form late if Slack limits the rate', async () => {
  const { server } = harness;
  server.faults.next('views.open', { type: 'ratelimited', retryAfter: 1 });
  await server.slash('/song');
  await server.until(() => server.openView());
});

it('does not treat an admin of another workspace as a moderator', async () => {
  const { server, bot } = harness;
  server.workspace.addUser({ id: 'U0EVE', name: 'eve', admin: true, team: 'T0OTHER' });
  server.workspace.channels.get('C0MUSIC')?.members.add('U0EVE');
  await server.slash('/song', 'rain', { user: 'U0EVE' });
  await server.until(() => bot.started === 1);
  expect(bot.invocations[0]?.person).toMatchObject({ displayName: 'eve', moderator: false });
});

it('updates the rights of a former admin', async () => {
  const { server, bot } = harness;
  await server.slash('/song', 'rain', { user: 'U0BOB' });
  await server.until(() => bot.started === 1);
  server.workspace.addUser({ id: 'U0BOB', name: 'bob', admin: false });
  harness.passTime(24 * 60 * 60_000);
  await server.slash('/song', 'snow', { user: 'U0BOB' });
  await server.until(() => bot.started === 2);
  expect(bot.invocations.map(({ person }) => person.moderator)).toEqual([true, false]);
});
