/** The platform of a chat in the browser, on this machine alone: to try every command before anything is connected. */

import type { AnyCommand } from '../../core/bot/command.ts';
import type { Bot } from '../../core/bot/create-bot.ts';
import type { KeptFile } from '../../core/message.ts';
import type { System } from '../../core/system.ts';
import type { BrowserCommand, BrowserMessage } from '../../core/web/browser-chat.ts';
import type { BrowserChat } from '../../core/web/platform-routes.ts';
import type { Platform } from '../platform.ts';
import { channelsOf, findPerson, isIn, PEOPLE, WEB } from './connection/community.ts';
import { createHistory } from './deliver/history.ts';
import { createWebPosts } from './deliver/posts.ts';
import { WEB_LIMITS } from './limits.ts';
import { answerRequest } from './receive/answer.ts';
import { webRequestSchema } from './receive/requests.ts';
import { createUploads } from './receive/uploads.ts';
import type { WebMessage } from './render/message.ts';

export interface WebFiles {
  /** A signed, expiring address of a kept file, relative to the root of the listener. */
  readonly path: (file: KeptFile, downloadName: string) => string;
}

export interface WebOptions extends Pick<System, 'now' | 'newId'> {
  /** Where this machine reaches the listener, without a slash at the end. */
  readonly url: string;
  /** In the address of the page: without it nothing is served. */
  readonly token: string;
  readonly media: WebFiles;
}

export function createWeb(options: WebOptions): Platform & { readonly browserChat: BrowserChat } {
  const { url, token, media, now, newId } = options;
  let bot: Bot | undefined;
  let isTaking = false;
  let isClosed = false;
  /** What is being answered right now. */
  const underWay = new Set<Promise<unknown>>();

  const history = createHistory(WEB_LIMITS.messages);
  const posts = createWebPosts({ history, now, newId });
  const uploads = createUploads((id) => `${url}/playground/uploads/${id}`, newId);

  /** Links to kept files expire, so each reader gets fresh ones. They lead to this very listener, wherever it is reached. */
  function forPage({ source: _, media: items, ...message }: WebMessage): BrowserMessage {
    const linked = items?.map(({ file, ...item }) => {
      if (!file) return item;
      return { ...item, url: `/${media.path(file, item.name)}`, bytes: file.bytes };
    });
    return { ...message, media: linked };
  }

  const isSeenBy = (person: string) => (message: WebMessage) =>
    isIn(message.channel, person) && (message.to ?? person) === person;

  const browserChat: BrowserChat = {
    token,
    uploadBytes: WEB_LIMITS.uploadBytes,

    async watch(person, send, signal) {
      if (!findPerson(person) || !bot || isClosed) return;
      const isSeen = isSeenBy(person);
      send({
        type: 'all',
        person,
        people: PEOPLE,
        channels: channelsOf(person),
        commands: bot.commands.map(forForms),
        messages: history.all().filter(isSeen).map(forPage),
      });
      await history.follow((change) => {
        if (change.type === 'put' && isSeen(change.message))
          send({ type: 'message', message: forPage(change.message) });
        if (change.type === 'removed')
          send({ type: 'removed', ids: change.messages.filter(isSeen).map(({ id }) => id) });
      }, signal);
    },

    async ask(request) {
      const parsed = webRequestSchema.safeParse(request);
      if (!parsed.success) return undefined;
      if (!bot || !isTaking)
        return { type: 'refused', sentence: 'Minstrel is stopping. Try again in a minute.' };
      const answering = answerRequest(parsed.data, { bot, history, posts, uploads, now });
      underWay.add(answering);
      return await answering.finally(() => underWay.delete(answering));
    },

    upload: (name, contentType, bytes) => ({ id: uploads.add({ name, contentType, bytes }) }),
    uploaded: (id) => uploads.find(id),
  };

  return {
    name: WEB,
    browserChat,

    async start(theBot) {
      bot = theBot;
      isTaking = true;
    },

    async stop() {
      isTaking = false;
      await Promise.allSettled(underWay);
    },

    async close() {
      isTaking = false;
      isClosed = true;
      history.close();
    },

    status: () =>
      bot && !isClosed ? { ready: true } : { ready: false, reason: 'the browser chat is closed' },

    connections: () => history.followers(),

    show: posts.show,
    stream: posts.stream,
    sendPrivately: posts.sendPrivately,
    // One process shows it, and the same key is the same message.
    retract: async () => undefined,

    attachmentHeaders: () => ({ authorization: `Bearer ${token}` }),

    linkTo: async (_address, { id }) => (typeof id === 'string' ? `#message-${id}` : undefined),

    sameChannel: ({ platformData: _, ...address }) => address,
  };
}

function forForms(command: AnyCommand): BrowserCommand {
  const { name, description, options, subcommands = {}, moderatorsOnly, messageMenu } = command;
  return {
    name,
    description,
    options,
    subcommands: Object.entries(subcommands).map(([part, declared]) => ({
      name: part,
      description: declared.description,
      options: declared.options,
    })),
    moderatorsOnly,
    messageMenu,
  };
}
