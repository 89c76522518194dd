/** Songs that a voice channel hears together: their queue, and what people may do with it. */
import { z } from 'zod';
import { addressSchema, jsonObject } from '../invocation.ts';
import { actorSchema } from '../moderation.ts';

const LOOPS = ['off', 'song', 'queue'] as const;
export type PartyLoop = (typeof LOOPS)[number];

const songSchema = z.object({
  /** Names this entry: the same song may be queued twice. */
  id: z.string(),
  /** The job that made it, and which of its takes it is. */
  job: z.string(),
  index: z.number().int(),
  /** Plain. */
  title: z.string(),
  seconds: z.number().optional(),
  /** Who queued it; absent where the radio chose it. */
  by: actorSchema.optional(),
});
export type PartySong = z.infer<typeof songSchema>;

export const partySchema = z.object({
  id: z.string(),
  guild: z.string(),
  /** The voice channel. */
  channel: z.string(),
  /** Where its message is. */
  address: addressSchema,
  /** What the platform needs to find that message. */
  posted: jsonObject.optional(),
  current: songSchema.optional(),
  queue: z.array(songSchema),
  /** Counts up with each beginning of a song: what was meant for an earlier one does nothing. */
  round: z.number().int(),
  /** Where the song was at a moment, in milliseconds since the epoch, and whether it went on from there. */
  position: z.object({ seconds: z.number(), at: z.number(), moves: z.boolean() }),
  paused: z.boolean(),
  loop: z.enum(LOOPS),
  /** With an empty queue, songs of the channel are played. */
  radio: z.boolean(),
  /** Who wants to hear the next song. */
  votes: z.array(z.string()),
});
export type Party = z.infer<typeof partySchema>;

/** What a person may do with what is played in their server. Each answers with a sentence. Methods throw UserError. */
export interface PartyTools {
  /** Queues a song for the voice channel that the person is in, and joins it. */
  play(song: Omit<PartySong, 'id' | 'by'>): Promise<string>;
  skip(): Promise<string>;
  /** @param position from 1, as the queue is shown */
  remove(position: number): Promise<string>;
  shuffle(): Promise<string>;
  loop(loop: PartyLoop): Promise<string>;
  radio(on: boolean): Promise<string>;
  pause(): Promise<string>;
  resume(): Promise<string>;
  stop(): Promise<string>;
  /** What is played now; undefined where nothing is. */
  now(): Promise<PartyView | undefined>;
}

export interface PartyView {
  readonly party: Party;
  /** Of the song. */
  readonly seconds: number;
  /** The line that is sung, where its lines are timed. Plain. */
  readonly line?: string | undefined;
}
