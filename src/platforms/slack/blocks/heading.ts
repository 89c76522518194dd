/** What stands above the text: who is called, the title, how far the work is. */
import type { types } from '@slack/bolt';
import type { Message, Progress } from '../../../message.ts';
import { ellipsis, escapeMrkdwn, splitPlain } from '../escape.ts';
import { LIMITS } from '../limits.ts';
import { plainSection } from './text.ts';

export function mentionBlocks(message: Message, { person }: { readonly person: string }): types.KnownBlock[] {
  if (!message.notify) return [];
  return [{ type: 'context', elements: [{ type: 'mrkdwn', text: `<@${escapeMrkdwn(person)}>` }] }];
}

export function titleBlocks(title: string | undefined): types.KnownBlock[] {
  if (title === undefined || title.trim() === '') return [];
  if (title.length <= LIMITS.headerText)
    return [{ type: 'header', text: { type: 'plain_text', text: title, emoji: false } }];
  return splitPlain(title, LIMITS.sectionText).map(plainSection);
}

export function progressBlock({ stage, startedAt, queuePlace, estimateMs }: Progress): types.KnownBlock {
  const seconds = Math.floor(startedAt / 1000);
  const started = new Date(startedAt);
  const fallback = Number.isNaN(started.getTime())
    ? 'just now'
    : `${started.toISOString().slice(11, 16)} UTC`;
  const facts = [
    `:hourglass_flowing_sand: ${escapeMrkdwn(ellipsis(stage.trim() === '' ? 'Working' : stage, 300))}`,
    ...(queuePlace === undefined ? [] : [`place ${queuePlace} in the queue`]),
    ...(Number.isSafeInteger(seconds) && seconds > 0
      ? [`started <!date^${seconds}^{time}|${fallback}>`]
      : []),
    ...(estimateMs === undefined ? [] : [`usually takes about ${duration(estimateMs)}`]),
  ];
  return { type: 'context', elements: [{ type: 'mrkdwn', text: facts.join(' · ') }] };
}

function duration(ms: number): string {
  return ms < 90_000 ? `${Math.max(1, Math.round(ms / 1000))} s` : `${Math.round(ms / 60_000)} min`;
}
