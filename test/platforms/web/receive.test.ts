/** Requests from the playground page, and who sees the results. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { commands } from '../../../commands/index.ts';
import type { Bot } from '../../../src/core/bot/create-bot.ts';
import type { Invocation } from '../../../src/core/invocation.ts';
import { actionId } from '../../../src/core/message.ts';
import { SILENT_BOT } from '../../core/silent-bot.ts';
import { openWeb, watchChat } from './harness.ts';

const SKIP = actionId({ command: 'party', action: 'skip', job: 'now', index: 0 });
const GENERAL = { platform: 'web', guild: 'playground', channel: 'general' };

let chat: Awaited<ReturnType<typeof openWeb>>;
let web: ReturnType<(typeof chat)['make']>;
let invocations: Invocation[];
let requests = 0;

/** Answers everything privately. */
const BOT: Bot = {
  ...SILENT_BOT,
  commands,
  run: async (invocation) => {
    invocations.push(invocation);
    return { type: 'message', visibility: 'person', message: { text: 'Yes.' } };
  },
};

beforeEach(async () => {
  invocations = [];
  chat = await openWeb();
  web = chat.make();
  await web.start(BOT);
});
afterEach(() => chat.close());

const ask = (request: object) => {
  requests += 1;
  return web.browserChat.ask({ id: `request${requests}`.padEnd(16, 'x'), channel: 'general', ...request });
};
const say = (person: string, line: string, more: object = {}) => ask({ type: 'line', person, line, ...more });
const press = (person: string, message: string, action = SKIP) =>
  ask({ type: 'press', person, message, action });

/** All messages visible to a person. */
const visibleTo = (person: string) => {
  const page = watchChat(web.browserChat, person);
  return () => page.messages();
};
const questions = () => invocations.map(({ options }) => options.question);

it('shows the request for a private result, and the reply to it, only to its person', async () => {
  const other = chat.make();
  const begun: string[] = [];
  await other.start({
    ...BOT,
    run: async ({ options }) => ({
      type: 'accepted',
      job: 'job',
      begin: () => void begun.push(String(options.prompt)),
      reply: { text: 'Your entry is being made.' },
    }),
  });
  const [ada, mo] = ['ada', 'mo'].map((person) => watchChat(other.browserChat, person));
  await other.browserChat.ask({
    ...{ id: 'requestofada0001', channel: 'general', type: 'line', person: 'ada' },
    line: '/song a tune for rain',
  });
  expect(begun).toEqual(['a tune for rain']);
  expect(ada?.messages()).toHaveLength(2);
  expect(mo?.messages()).toEqual([]);
});

it('shows direct messages and private answers only to their person', async () => {
  const [ada, mo] = [visibleTo('ada'), visibleTo('mo')];
  await say('ada', 'a secret', { channel: 'direct-ada' });
  await say('ada', '@minstrel why?');
  expect(ada().map(({ channel }) => channel)).toEqual(['direct-ada', 'direct-ada', 'general', 'general']);
  expect(mo().map(({ author }) => author)).toEqual(['ada']);
  expect(visibleTo('mo')().map(({ channel }) => channel)).toEqual(['general']);
  expect(await say('mo', 'let me in', { channel: 'direct-ada' })).toMatchObject({ type: 'refused' });
  expect(questions()).toEqual(['a secret', 'why?']);
});

it('accepts a button only from a person who sees it', async () => {
  const mo = visibleTo('mo');
  const buttons = [{ type: 'action', id: SKIP, label: 'Skip' }] as const;
  await web.sendPrivately({ ...GENERAL, person: 'ada' }, { text: 'For Ada', actions: buttons });
  const [privateMessage] = visibleTo('ada')();
  await press('mo', privateMessage?.id ?? '');
  await press(
    'ada',
    privateMessage?.id ?? '',
    actionId({ command: 'party', action: 'stop', job: 'now', index: 0 }),
  );
  expect(JSON.stringify(mo())).toContain('This button no longer works. Use the command again.');
  expect(invocations).toEqual([]);
  await press('ada', privateMessage?.id ?? '');
  expect(invocations).toMatchObject([{ command: 'party', action: { name: 'skip' }, person: { id: 'ada' } }]);
});

it('ignores messages and replies between people', async () => {
  await web.show({ ...GENERAL, person: 'ada' }, { text: 'Done.' }, { key: 'job1', remember: async () => {} });
  await say('ada', 'who brings cake?');
  const [done, cake] = visibleTo('bob')();
  await say('bob', 'me', { replyTo: cake?.id });
  expect(invocations).toEqual([]);
  await say('bob', 'and then?', { replyTo: done?.id });
  await say('bob', '@Minstrel, what is a mode?');
  expect(questions()).toEqual(['and then?', 'what is a mode?']);
  expect(invocations[0]?.conversation).toMatchObject([{ author: 'bot', job: 'job1' }]);
});

it('rejects invalid requests without running a command', async () => {
  for (const request of [{}, { type: 'line', person: '../mo', line: 'hi' }, { type: 'line', person: 'ada' }])
    expect(await ask(request)).toBeUndefined();
  expect(await say('eve', 'hi')).toMatchObject({ type: 'refused' });
  expect(invocations).toEqual([]);
});

it('offers no choices for names that every object has', async () => {
  for (const name of ['__proto__', 'constructor', 'song __proto__', 'models constructor'])
    expect(
      await ask({ type: 'suggest', person: 'mo', form: name, option: name, typed: '', options: {} }),
    ).toEqual({ type: 'choices', choices: [] });
});

it('opens the form of a bare command only if it needs an option', async () => {
  expect(await say('ada', '/song')).toMatchObject({ type: 'form' });
  expect(await say('ada', '/limits set')).toMatchObject({ type: 'form' });
  expect(await say('ada', '/jobs ?')).toMatchObject({ type: 'form' });
  expect(invocations).toEqual([]);
  await say('ada', '/jobs');
  await say('ada', '/pages album');
  await say('ada', '/limits report');
  expect(invocations).toMatchObject([
    { command: 'jobs', options: {} },
    { command: 'pages', subcommand: 'album', options: {} },
    { command: 'limits', subcommand: 'report', options: {} },
  ]);
});

it('opens a form with the image of a message, and reads the message again when the form is sent', async () => {
  const file = chat.keep(new Uint8Array(3), 'image/png');
  const media = [{ kind: 'image', name: 'a fox.png', source: { type: 'stored', file } }] as const;
  await web.show(
    { ...GENERAL, person: 'ada' },
    { text: 'Here.', media },
    { key: 'job1', remember: async () => {} },
  );
  const upload = web.browserChat.upload('dog.jpg', 'image/jpeg', Buffer.from('dog'));
  await say('ada', 'my dog', { uploads: [upload.id] });
  const [result, dog] = visibleTo('ada')();
  expect(Object.keys(dog ?? {})).not.toContain('uploads');

  const open = (message = '') => ask({ type: 'menu', person: 'ada', message, command: 'image' });
  const opened = await open(result?.id);
  if (opened?.type !== 'form') throw new TypeError(JSON.stringify(opened));
  expect(opened.form).toMatchObject({
    id: `image from-message@${result?.id}`,
    title: 'Change this image',
    options: { image: { help: '“a fox.png” will be used unless you choose another file.' } },
    initial: {},
  });
  const send = (form: string) =>
    ask({ type: 'form', person: 'ada', form, options: { prompt: 'make it night' } });
  await send(opened.form.id);
  expect(invocations.at(-1)).toMatchObject({
    command: 'image',
    subcommand: 'from-message',
    options: {
      prompt: 'make it night',
      image: { name: 'a fox.png', url: 'http://127.0.0.1:3000/files/kept-0?as=a fox.png', attached: true },
    },
  });
  expect(JSON.stringify(visibleTo('ada')())).toContain('/image image: a fox.png prompt: make it night');

  const ofUpload = await open(dog?.id);
  await send(ofUpload?.type === 'form' ? ofUpload.form.id : '');
  expect(invocations.at(-1)?.options.image).toMatchObject({ name: 'dog.jpg', attached: true });

  await open(visibleTo('ada')().at(-1)?.id);
  expect(JSON.stringify(visibleTo('ada')())).toContain('This message has no image that I can read.');
  const sent = invocations.length;
  const refusals = () =>
    visibleTo('ada')().filter((message) => JSON.stringify(message).includes('I can no longer read its file'));
  for (let file = 0; file < 4; file += 1)
    web.browserChat.upload('large.wav', 'audio/wav', Buffer.alloc(25 * 1024 * 1024));
  await send(ofUpload?.type === 'form' ? ofUpload.form.id : '');
  expect(refusals()).toHaveLength(1);
  await ask({ type: 'clear', person: 'ada' });
  await send(opened.form.id);
  expect(refusals()).toHaveLength(1);
  expect(invocations).toHaveLength(sent);
});
