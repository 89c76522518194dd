/** Runs invocations and shows their outcome. */

import type { Bot } from '../../../core/bot/create-bot.ts';
import { UserError } from '../../../core/errors.ts';
import type { Address, Invocation, Person } from '../../../core/invocation.ts';
import type { MediaFile, Message } from '../../../core/message.ts';
import type { FileReference, Form, RawOptions } from '../../../core/options.ts';
import type { BrowserAnswer, BrowserChannel } from '../../../core/web/browser-chat.ts';
import type { Target } from '../../shared/target.ts';
import type { History } from '../deliver/history.ts';
import { type Posts, postId } from '../deliver/posts.ts';
import { readableText, webNodes } from '../render/markdown.ts';
import type { WebMessage } from '../render/message.ts';
import type { RequestOf } from './requests.ts';
import type { Uploads } from './uploads.ts';

export interface WebReceivingTools {
  readonly bot: Bot;
  readonly history: History;
  readonly posts: Posts;
  readonly uploads: Uploads;
  /** A stored file as an option value. */
  readonly reference: (file: MediaFile, name: string) => FileReference;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The person and channel of a request. */
export interface RequestContext {
  readonly person: Person;
  readonly channel: BrowserChannel;
  readonly address: Address;
}

export const DONE = { type: 'done' } as const satisfies BrowserAnswer;
const FILE_UNAVAILABLE = 'The attached file is no longer available. Attach it again.';

interface InvokeRequest {
  readonly id: string;
  readonly target: Target;
  readonly options: RawOptions;
  /** The command as shown in the channel; absent for a pressed button. */
  readonly entry?: WebMessage | undefined;
}

export async function invoke(
  { id, target, options, entry }: InvokeRequest,
  { person, address }: RequestContext,
  tools: WebReceivingTools,
): Promise<BrowserAnswer> {
  return await runInvocation({ id, person, address, options, ...target }, tools, { entry });
}

/** A typed line, or a form as a line, as its author's message. */
export async function personMessage(
  { id, line, replyTo, uploads }: Pick<RequestOf<'line'>, 'id' | 'line' | 'replyTo' | 'uploads'>,
  { person, channel }: RequestContext,
  { now, uploads: held }: Pick<WebReceivingTools, 'now' | 'uploads'>,
): Promise<WebMessage> {
  const source = readableText(line).trim();
  const isCommand = source.startsWith('/');
  const attached = uploads.flatMap((upload) => held.find(upload)?.name ?? []);
  return {
    id: `p-${id}`,
    channel: channel.id,
    at: now(),
    author: person.id,
    line: isCommand ? source : undefined,
    body: isCommand ? [] : await webNodes(source),
    source,
    replyTo,
    attached: attached.length > 0 ? attached : undefined,
    uploads: attached.length > 0 ? uploads : undefined,
  };
}

/** Runs an invocation and shows its outcome. The command appears in the channel only once it is accepted. */
export async function runInvocation(
  invocation: Invocation,
  { bot, history, posts }: WebReceivingTools,
  { entry }: { readonly entry?: WebMessage | undefined } = {},
): Promise<BrowserAnswer> {
  const outcome = await bot.run(invocation);
  switch (outcome.type) {
    case 'accepted':
      if (entry) history.put(outcome.reply ? { ...entry, to: invocation.person.id } : entry);
      outcome.begin();
      if (outcome.reply) return await answerPrivately(invocation, outcome.reply, { posts });
      return { type: 'done', shown: postId(outcome.job) };
    case 'message': {
      const { message, visibility, option, brief } = outcome;
      if (invocation.isForm && option !== undefined)
        return { type: 'wrong', option, sentence: await webNodes(message.text ?? '') };
      const { address, person } = invocation;
      if (brief) return { type: 'notice', sentence: message.text ?? '' };
      if (entry) history.put(visibility === 'person' ? { ...entry, to: person.id } : entry);
      if (visibility === 'person') return await answerPrivately({ address }, message, { posts });
      await posts.show(address, message, { key: invocation.id, remember: async () => {} });
      return { type: 'done', shown: postId(invocation.id) };
    }
    case 'form':
      return formAnswer(outcome.form, invocation.command);
    default:
      return outcome satisfies never;
  }
}

/** Shows a message to the person only. */
export async function answerPrivately(
  { address }: Pick<RequestContext, 'address'>,
  message: Message,
  { posts }: Pick<WebReceivingTools, 'posts'>,
): Promise<BrowserAnswer> {
  return { type: 'done', shown: await posts.sendPrivately(address, message) };
}

export const formAnswer = (form: Form, name: string): BrowserAnswer => ({
  type: 'form',
  form,
  about: `/${name}`,
});

/** Throws UserError if the upload is no longer in memory. */
export function referenceTo(id: string, { uploads }: Pick<WebReceivingTools, 'uploads'>): FileReference {
  const reference = uploads.reference(id);
  if (!reference) throw new UserError(FILE_UNAVAILABLE);
  return reference;
}
