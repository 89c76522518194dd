import type { Fault } from '../fault.ts';
import { APP_FAULTS } from './app.ts';
import { DISCORD_FAULTS } from './discord.ts';
import { GATEWAY_FAULTS } from './gateway.ts';
import { HTTP_FAULTS } from './http.ts';
import { JOB_FAULTS } from './jobs.ts';
import { MEDIA_FAULTS } from './media.ts';
import { PAGE_FAULTS } from './pages.ts';
import { PARTY_FAULTS } from './party.ts';
import { RENDER_FAULTS } from './render.ts';
import { RUN_FAULTS } from './runs.ts';
import { SETTINGS_FAULTS } from './settings.ts';
import { SLACK_FAULTS } from './slack.ts';
import { STORAGE_FAULTS } from './storage.ts';
import { TALK_FAULTS } from './talk.ts';

export const FAULTS: readonly Fault[] = [
  ...JOB_FAULTS,
  ...RUN_FAULTS,
  ...STORAGE_FAULTS,
  ...HTTP_FAULTS,
  ...PAGE_FAULTS,
  ...GATEWAY_FAULTS,
  ...SETTINGS_FAULTS,
  ...MEDIA_FAULTS,
  ...DISCORD_FAULTS,
  ...SLACK_FAULTS,
  ...RENDER_FAULTS,
  ...PARTY_FAULTS,
  ...TALK_FAULTS,
  ...APP_FAULTS,
];
