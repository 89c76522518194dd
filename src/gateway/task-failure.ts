import { z } from 'zod';
import { GATEWAY_ERROR_CODES } from './errors.ts';
import { maybe, members, text } from './responses.ts';

/** Why a task failed that the gateway had taken, as a callback or a task query tells it. */
export const taskFailure = members({
  code: z.enum(GATEWAY_ERROR_CODES),
  gatewayCode: maybe(text(100)),
  /** The gateway's own words: escape them before showing them. */
  message: maybe(text(500)),
});
export type TaskFailure = z.infer<typeof taskFailure>;
