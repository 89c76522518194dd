import type { Address } from '../../command.ts';
import type { Posted } from '../platform.ts';
import type { Identity } from './identity.ts';
import { readPosted } from './posted.ts';

/** As chat.getPermalink writes it, without asking for each: https://docs.slack.dev/reference/methods/chat.getPermalink */
export function linkTo({ channel, thread }: Address, posted: Posted, identity: Identity): string | undefined {
  const state = readPosted(posted, channel);
  const ts = state.parts[0]?.ts;
  if (ts === undefined || identity.url === undefined) return undefined;
  const link = new URL(`archives/${state.channel}/p${ts.replace('.', '')}`, identity.url);
  if (thread !== undefined) {
    link.searchParams.set('thread_ts', thread);
    link.searchParams.set('cid', state.channel);
  }
  return link.href;
}
