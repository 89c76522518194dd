import type { AnyCommand } from '../src/core/bot/command.ts';
import { ask } from './ask.ts';
import { image } from './image.ts';
import { jobs } from './jobs.ts';
import { limitsFor } from './limits.ts';
import { lyrics } from './lyrics.ts';
import { minstrelFor } from './minstrel.ts';
import { models } from './models.ts';
import { pages } from './pages.ts';
import { party } from './party.ts';
import { remix } from './remix.ts';
import { scheduleFor } from './schedule.ts';
import { song } from './song.ts';
import { stems } from './stems.ts';
import { video } from './video.ts';
import { voices } from './voices.ts';

const features = [song, lyrics, stems, remix, voices, image, video, ask, party, jobs];
const schedulable = [...features, scheduleFor(features)];
const documented = [...schedulable, models, limitsFor(schedulable), pages];

/** All commands of the bot. */
export const commands: readonly AnyCommand[] = [...documented, minstrelFor(documented)];
