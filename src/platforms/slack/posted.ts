/** What is remembered of a post, so that it is found again and no step happens twice. */
import { z } from 'zod';
import { type Posted, postedSchema } from '../platform.ts';

const partSchema = z.object({
  /** Absent while it is not known whether Slack took the message. */
  ts: z.string().optional(),
  /** Of what stands there, so that the same is not written again. */
  digest: z.string().optional(),
});

const fileSchema = z.object({
  /** Slack's id; absent when Slack did not take the file, which is then shown as a link. */
  id: z.string().optional(),
  /** `uploaded`: Slack has the bytes. `sharing`: unknown whether it shows. `shared`: it shows. */
  state: z.enum(['uploaded', 'sharing', 'shared', 'link']),
});

const slackPostedSchema = z.object({
  channel: z.string(),
  /** In order: the first stands in the channel, the others in its thread. */
  parts: z.array(partSchema),
  /** By the kept file's name. */
  files: z.record(z.string(), fileSchema),
  /** Long text stands in the thread, where it was streamed. */
  inThread: z.boolean().optional(),
  /** The person was called to a message that had stood before. */
  called: z.boolean(),
});

export type SlackPosted = z.infer<typeof slackPostedSchema>;
export type PostedFile = z.infer<typeof fileSchema>;

/** What an earlier call remembered; a fresh start when there is nothing, or nothing that can be read. */
export function readPosted(posted: Posted | undefined, channel: string): SlackPosted {
  const read = slackPostedSchema.safeParse(posted);
  return read.success ? read.data : { channel, parts: [], files: {}, called: false };
}

/** The same, as it is stored: what is not set is left out. */
export function toPosted(posted: SlackPosted): Posted {
  return postedSchema.parse(JSON.parse(JSON.stringify(posted)));
}
