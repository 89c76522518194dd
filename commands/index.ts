import type { AnyCommand } from '../src/core/bot/command.ts';
import { type Family, FULL_OFFER, type Offer } from '../src/core/models/family.ts';
import { ask } from './ask.ts';
import { contest } from './contest.ts';
import { image, imageFor } from './image.ts';
import { jobs } from './jobs.ts';
import { limitsFor } from './limits.ts';
import { lyrics } from './lyrics.ts';
import { minstrelFor } from './minstrel.ts';
import { modelsFor } from './models.ts';
import { pages } from './pages.ts';
import { party } from './party.ts';
import { remix } from './remix.ts';
import { scheduleFor } from './schedule.ts';
import { song } from './song.ts';
import { stems } from './stems.ts';
import { video } from './video.ts';
import { voices } from './voices.ts';

/** The commands that need a service, and its family. */
const FEATURES: readonly (readonly [command: AnyCommand, family: Family])[] = [
  [song, 'song'],
  [lyrics, 'song'],
  [stems, 'song'],
  [remix, 'song'],
  [voices, 'song'],
  [image, 'image'],
  [video, 'video'],
  [ask, 'ask'],
  [party, 'song'],
  [contest, 'song'],
];

/** Undefined for commands that need no service. */
export function familyOfCommand(name: string): Family | undefined {
  return FEATURES.find(([command]) => command.name === name)?.[1];
}

/** The commands of the families that have a service. */
export function commandsFor({ offered: families, changesImages }: Offer): readonly AnyCommand[] {
  const served = FEATURES.flatMap(([command, family]) => (families.includes(family) ? [command] : []));
  const images = imageFor({ animates: families.includes('video'), changes: changesImages });
  const features = [...served.map((command) => (command === image ? images : command)), jobs];
  const schedulable = [...features, scheduleFor(features)];
  const documented = [
    ...schedulable,
    modelsFor(families),
    limitsFor(schedulable),
    ...(families.includes('song') ? [pages] : []),
  ];
  return [...documented, minstrelFor(documented, families)];
}

/** All commands of the bot. */
export const commands = commandsFor(FULL_OFFER);
