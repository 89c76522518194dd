import type { System } from '../../../core/system.ts';
import type { MediaReader } from '../../platform.ts';
import type { Guilds } from '../connection/guilds.ts';
import type { DiscordRest } from '../connection/rest.ts';
import type { FirstResponses } from './first-responses.ts';

/** The dependencies for showing messages. */
export interface DeliveryTools extends Pick<System, 'now' | 'log'> {
  readonly rest: DiscordRest;
  readonly guilds: Guilds;
  readonly media: MediaReader;
  readonly responses: FirstResponses;
}
