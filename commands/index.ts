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
import { song } from './song.ts';
import { stems } from './stems.ts';
import { video } from './video.ts';
import { voices } from './voices.ts';

const making = [song, lyrics, stems, remix, voices, image, video, ask, party, jobs];
const explained = [...making, models, limitsFor(making), pages];

/** Everything that the bot can do. */
export const commands: readonly AnyCommand[] = [...explained, minstrelFor(explained)];
