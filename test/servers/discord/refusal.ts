const CODES = {
  unknownChannel: [404, 10_003, 'Unknown Channel'],
  unknownGuild: [404, 10_004, 'Unknown Guild'],
  unknownMessage: [404, 10_008, 'Unknown Message'],
  unknownUser: [404, 10_013, 'Unknown User'],
  unknownWebhook: [404, 10_015, 'Unknown Webhook'],
  unknownVoiceState: [404, 10_065, 'Unknown Voice State'],
  unknownInteraction: [404, 10_062, 'Unknown interaction'],
  entityTooLarge: [413, 40_005, 'Request entity too large'],
  alreadyAcknowledged: [400, 40_060, 'Interaction has already been acknowledged.'],
  tooManyFollowUps: [400, 40_094, 'This interaction has hit the maximum number of follow-up messages'],
  missingAccess: [403, 50_001, 'Missing Access'],
  notAuthor: [403, 50_005, 'Cannot edit a message authored by another user'],
  emptyMessage: [400, 50_006, 'Cannot send an empty message'],
  cannotMessageUser: [403, 50_007, 'Cannot send messages to this user'],
  missingPermissions: [403, 50_013, 'Missing Permissions'],
  wrongChannelType: [400, 50_024, 'Cannot execute action on this channel type'],
  invalidWebhookToken: [401, 50_027, 'Invalid Webhook Token'],
  invalidForm: [400, 50_035, 'Invalid Form Body'],
  archivedThread: [400, 50_083, 'Thread is archived'],
  invalidJson: [400, 50_109, 'The request body contains invalid JSON.'],
  replyWithoutHistory: [400, 160_002, 'Cannot reply without permission to read message history'],
  threadExists: [400, 160_004, 'A thread has already been created for this message'],
  pollExpired: [400, 520_001, 'Poll expired'],
  cannotEditPoll: [400, 520_003, 'Cannot edit a poll message'],
  cannotExpireNonPoll: [400, 520_006, 'Cannot expire a non-poll message'],
  unauthorized: [401, 0, '401: Unauthorized'],
  notFound: [404, 0, '404: Not Found'],
} as const satisfies Record<string, readonly [status: number, code: number, message: string]>;

export type RefusalName = keyof typeof CODES;

/** Discord's refusal of a request: HTTP status, JSON error code, and the reason for readers of the test. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly code: number;
  readonly reason: string;

  constructor(refusal: RefusalName, reason = '') {
    const [status, code, text] = CODES[refusal];
    super(text);
    this.status = status;
    this.code = code;
    this.reason = reason;
  }
}

/** Throws 50035 with the reason if the condition is false. */
export function requireValid(condition: boolean, reason: string): asserts condition {
  if (!condition) throw new Refusal('invalidForm', reason);
}
