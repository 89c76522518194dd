/** Songs played in voice channels: the queue and its controls. */
import { z } from 'zod';
import { addressSchema, jsonObject } from '../invocation.ts';
import { actorSchema } from '../moderation.ts';

const LOOPS = ['off', 'song', 'queue'] as const;
export type PartyLoop = (typeof LOOPS)[number];

const songSchema = z.object({
  /** Identifies this entry of the queue: a song may be queued twice. */
  id: z.string(),
  /** The job that created the song. */
  job: z.string(),
  /** Index of the take. */
  index: z.number().int(),
  /** Plain text. */
  title: z.string(),
  seconds: z.number().optional(),
  /** The person who queued it; absent if the radio chose it. */
  by: actorSchema.optional(),
});
export type PartySong = z.infer<typeof songSchema>;

export const partySchema = z.object({
  id: z.string(),
  guild: z.string(),
  /** The voice channel. */
  channel: z.string(),
  /** The channel of its message. */
  address: addressSchema,
  /** The platform's data to find that message again. */
  posted: jsonObject.optional(),
  current: songSchema.optional(),
  queue: z.array(songSchema),
  /** Incremented by each start of a song, so that actions on an earlier song are ignored. */
  round: z.number().int(),
  /** The playback position at a time (in milliseconds since the epoch), and whether it advances. */
  position: z.object({ seconds: z.number(), at: z.number(), moves: z.boolean() }),
  paused: z.boolean(),
  loop: z.enum(LOOPS),
  /** Plays songs of the channel while the queue is empty. */
  radio: z.boolean(),
  /** People who voted to skip the song. */
  votes: z.array(z.string()),
});
export type Party = z.infer<typeof partySchema>;

/** Controls for a person. Actions resolve to a message for them, and throw UserError. */
export interface PartyTools {
  /** Queues a song for the person's voice channel, and joins it. */
  play(song: Omit<PartySong, 'id' | 'by'>): Promise<string>;
  skip(): Promise<string>;
  /** @param position position in the queue, from 1 */
  remove(position: number): Promise<string>;
  shuffle(): Promise<string>;
  loop(loop: PartyLoop): Promise<string>;
  radio(on: boolean): Promise<string>;
  pause(): Promise<string>;
  resume(): Promise<string>;
  stop(): Promise<string>;
  /** The current party; undefined if nothing is playing. */
  now(): Promise<PartyView | undefined>;
}

export interface PartyView {
  readonly party: Party;
  /** Playback position in the song. */
  readonly seconds: number;
  /** The current line of the lyrics, if they are synced. Plain text. */
  readonly line?: string | undefined;
}
