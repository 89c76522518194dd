import { SlackRefusal } from './call.ts';
import { SLACK } from './limits.ts';
import type { Workspace } from './workspace.ts';

/** Trigger ids: each opens one view within three seconds. */
export class Triggers {
  readonly #workspace: Workspace;
  readonly #issued = new Map<string, { user: string; at: number; used: boolean }>();

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  issue(user: string): string {
    const id = `${this.#workspace.next()}.trigger`;
    this.#issued.set(id, { user, at: this.#workspace.now(), used: false });
    return id;
  }

  /** Returns the trigger's person. Throws `invalid_trigger_id`, `exchanged_trigger_id`, `expired_trigger_id`. */
  take(id: string): string {
    const trigger = this.#issued.get(id);
    if (trigger === undefined) throw new SlackRefusal('invalid_trigger_id');
    if (trigger.used) throw new SlackRefusal('exchanged_trigger_id');
    if (this.#workspace.now() - trigger.at > SLACK.triggerLifetimeMs)
      throw new SlackRefusal('expired_trigger_id');
    trigger.used = true;
    return trigger.user;
  }
}

export interface ResponseTicket {
  /** The workspace if it is not the first. */
  team?: string;
  channel: string;
  user: string;
  /** The message whose button was pressed, if any, which `replace_original` replaces. */
  messageTs: string | undefined;
  threadTs: string | undefined;
  at: number;
  uses: number;
}

/** response_urls: five uses each within thirty minutes. */
export class ResponseUrls {
  readonly #workspace: Workspace;
  readonly #tickets = new Map<string, ResponseTicket>();
  baseUrl = '';

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  issue(ticket: Pick<ResponseTicket, 'channel' | 'user'> & Partial<ResponseTicket>): string {
    const key = `r${this.#workspace.next()}`;
    this.#tickets.set(key, {
      messageTs: undefined,
      threadTs: undefined,
      at: this.#workspace.now(),
      uses: 0,
      ...ticket,
    });
    return `${this.baseUrl}/response/${key}`;
  }

  /** Throws `expired_url` and `used_url`, which Slack answers with 404. */
  take(key: string): ResponseTicket {
    const ticket = this.#tickets.get(key);
    if (ticket === undefined || this.#workspace.now() - ticket.at > SLACK.responseUrlLifetimeMs) {
      throw new SlackRefusal('expired_url');
    }
    if (ticket.uses >= SLACK.responseUrlUses) throw new SlackRefusal('used_url');
    ticket.uses += 1;
    return ticket;
  }
}
