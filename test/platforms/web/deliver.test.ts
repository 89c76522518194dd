import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { Bot } from '../../../src/core/bot/create-bot.ts';
import type { Invocation } from '../../../src/core/invocation.ts';
import { SILENT_BOT } from '../../core/silent-bot.ts';
import { openWeb, watchChat } from './harness.ts';

const asking = { person: 'mo', channel: 'general' };
const requestId = (number: number) => `request${String(number).padStart(12, '0')}`;

async function open(bot: Bot = SILENT_BOT) {
  const chat = await openWeb();
  onTestFinished(chat.close);
  const start = async () => {
    const web = chat.make();
    await web.start(bot);
    const page = watchChat(web.browserChat, 'mo');
    onTestFinished(page.leave);
    const said = () => page.messages().map(({ body }) => JSON.stringify(body));
    const say = (number: number, line: string) =>
      web.browserChat.ask({ type: 'line', ...asking, id: requestId(number), line });
    return { ...web.browserChat, said, say };
  };
  return { ...chat, start };
}

test('a channel keeps its newest 200 messages, also for a page that opens later', async () => {
  const { start } = await open();
  const web = await start();
  await web.ask({ type: 'line', ...asking, channel: 'songs', id: requestId(0), line: 'elsewhere' });
  for (let number = 1; number <= 205; number += 1) await web.say(number, `line ${number}.`);
  const later = watchChat(web, 'mo');
  await later.leave();
  for (const said of [web.said(), later.messages().map(({ body }) => JSON.stringify(body))]) {
    expect(said).toHaveLength(201);
    expect(said.join()).toContain('elsewhere');
    expect(said.join()).not.toMatch(/line [1-5]\./);
    expect(said.join()).toMatch(/line 6\..*line 205\./);
  }
});

test('a request that is sent again is the same request', async () => {
  const invocations: Invocation[] = [];
  const run: Bot['run'] = async (invocation) => {
    invocations.push(invocation);
    return { type: 'message', visibility: 'channel', message: { text: 'There.' } };
  };
  const { start } = await open({ ...SILENT_BOT, run });
  const web = await start();
  for (let time = 0; time < 2; time += 1) await web.say(1, '@Minstrel hello');
  expect(new Set(invocations.map(({ id }) => id)).size).toBe(1);
  expect(web.said()).toHaveLength(2);
});

test('files that wait give way to newer ones, and who asks with one of those is told', async () => {
  const { start } = await open();
  const web = await start();
  const upload = () => web.upload('rain.mp3', 'audio/mpeg', Buffer.alloc(25 * 1024 * 1024));
  const { id } = z.object({ id: z.string() }).parse(upload());
  expect(web.uploaded(id)?.contentType).toBe('audio/mpeg');
  for (let file = 0; file < 4; file += 1) upload();
  expect(web.uploaded(id)).toBeUndefined();
  await web.ask({ type: 'line', ...asking, id: requestId(1), line: 'Listen', uploads: [id] });
  expect(web.said().join()).toMatch(/file.*again/i);
});

test('clearing a channel leaves the others', async () => {
  const { start } = await open();
  const web = await start();
  await web.say(1, 'here');
  await web.ask({ type: 'line', ...asking, channel: 'songs', id: requestId(2), line: 'elsewhere' });
  await web.ask({ type: 'clear', ...asking });
  expect(web.said()).toHaveLength(1);
  expect(web.said().join()).toContain('elsewhere');
});
