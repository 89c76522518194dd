/** The browser chat on this machine, for trying every command without connecting a platform. */

import type { AnyCommand } from '../../core/bot/command.ts';
import type { Bot } from '../../core/bot/create-bot.ts';
import type { MediaFile } from '../../core/message.ts';
import type { FileReference } from '../../core/options.ts';
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
  /** A signed, expiring path of a stored file, relative to the listener's root. */
  readonly path: (file: MediaFile, downloadName: string) => string;
}

export interface WebOptions extends Pick<System, 'now' | 'newId'> {
  /** The listener's URL on this machine, without a trailing slash. */
  readonly url: string;
  /** The secret in the page's URL. Requests without it get a 404. */
  readonly token: string;
  readonly media: WebFiles;
}

export function createWeb(options: WebOptions): Platform & { readonly browserChat: BrowserChat } {
  const { url, token, media, now, newId } = options;
  let bot: Bot | undefined;
  let isAccepting = false;
  let isClosed = false;
  /** Requests in progress. */
  const pendingRequests = new Set<Promise<unknown>>();

  const history = createHistory(WEB_LIMITS.messages);
  const posts = createWebPosts({ history, now, newId });
  const uploads = createUploads((id) => `${url}/playground/uploads/${id}`, newId);

  /** Links to stored files expire, so each reader gets fresh ones. They are relative, so they work on any host name. */
  function forPage({ source: _, uploads: __, media: items, ...message }: WebMessage): BrowserMessage {
    const linked = items?.map(({ file, ...item }) => {
      if (!file) return item;
      return { ...item, url: `/${media.path(file, item.name)}`, bytes: file.bytes };
    });
    return { ...message, media: linked };
  }

  const reference = (file: MediaFile, name: string): FileReference => ({
    name,
    contentType: file.contentType,
    bytes: file.bytes,
    url: `${url}/${media.path(file, name)}`,
    attached: true,
  });

  const isVisibleTo = (person: string) => (message: WebMessage) =>
    isIn(message.channel, person) && (message.to ?? person) === person;

  const browserChat: BrowserChat = {
    token,
    uploadBytes: WEB_LIMITS.uploadBytes,

    async watch(person, send, signal) {
      if (!findPerson(person) || !bot || isClosed) return;
      const isVisible = isVisibleTo(person);
      send({
        type: 'all',
        person,
        people: PEOPLE,
        channels: channelsOf(person),
        commands: bot.commands.map(toBrowserCommand),
        messages: history.all().filter(isVisible).map(forPage),
      });
      await history.follow((change) => {
        if (change.type === 'put' && isVisible(change.message))
          send({ type: 'message', message: forPage(change.message) });
        if (change.type === 'removed')
          send({ type: 'removed', ids: change.messages.filter(isVisible).map(({ id }) => id) });
      }, signal);
    },

    async ask(request) {
      const parsed = webRequestSchema.safeParse(request);
      if (!parsed.success) return undefined;
      if (!bot || !isAccepting)
        return { type: 'refused', sentence: 'Minstrel is stopping. Try again in a minute.' };
      const answer = answerRequest(parsed.data, { bot, history, posts, uploads, reference, now });
      pendingRequests.add(answer);
      return await answer.finally(() => pendingRequests.delete(answer));
    },

    upload: (name, contentType, bytes) => ({ id: uploads.add({ name, contentType, bytes }) }),
    uploaded: (id) => uploads.find(id),
  };

  return {
    name: WEB,
    browserChat,

    async start(connectedBot) {
      bot = connectedBot;
      isAccepting = true;
    },

    async stop() {
      isAccepting = false;
      await Promise.allSettled(pendingRequests);
    },

    async close() {
      isAccepting = false;
      isClosed = true;
      history.close();
    },

    status: () => (bot && !isClosed ? { ready: true } : { ready: false, reason: 'the playground is closed' }),

    connections: () => history.followers(),

    show: posts.show,
    stream: posts.stream,
    sendPrivately: async (address, message) => void (await posts.sendPrivately(address, message)),
    // A single process shows messages, and the same key is the same message.
    retract: async () => undefined,

    attachmentHeaders: () => ({ authorization: `Bearer ${token}` }),

    linkTo: async (_address, { id }) => (typeof id === 'string' ? `#message-${id}` : undefined),

    sameChannel: ({ platformData: _, ...address }) => address,
  };
}

function toBrowserCommand(command: AnyCommand): BrowserCommand {
  const { name, description, options, subcommands = {}, moderatorsOnly, messageMenu } = command;
  return {
    name,
    description,
    options,
    subcommands: Object.entries(subcommands).map(([part, declaration]) => ({
      name: part,
      description: declaration.description,
      options: declaration.options,
    })),
    moderatorsOnly,
    // Entries that run at once need the id of a request, which the page sends with forms only.
    messageMenu: messageMenu && !('subcommand' in messageMenu) ? messageMenu.label : undefined,
  };
}
