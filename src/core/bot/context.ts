/** The services that commands use. */
import type { Contests } from '../contest.ts';
import type { JobView } from '../job.ts';
import type { Judgement, MediaFile, MediaSource } from '../message.ts';
import type { Family } from '../models/family.ts';
import type { InForce, Moderation, Own } from '../moderation.ts';
import type { PartyTools } from '../music/party.ts';
import type { RemovedVoice, Voice } from '../music/voice.ts';
import type { Choice, FileOption, FileReference } from '../options.ts';
import type { FileOrigin } from '../origin.ts';
import type { Schedules } from '../scheduled-request.ts';
import type { System } from '../system.ts';
import type { AnswerDialect, SongModel } from '../work.ts';
import type { Outcome } from './outcome.ts';
import type { StartRequest } from './start-request.ts';

/** The model for an image made from others. */
export interface ImageEditorChoice {
  /** The one that the person chose. */
  readonly named?: string | undefined;
  /** The one that made the image, used again if the account still has it. */
  readonly previous?: string | undefined;
}

/** The operator's settings for answers. Models are ids without route, unless noted. */
export interface AnswerOffer {
  /** Limit of output tokens; absent if the model decides. */
  readonly maxTokens?: number;
  /** Limit of input tokens for a question and its conversation. */
  readonly contextTokens: number;
  /** Reads images if the chosen model cannot; may include a route. */
  readonly visionModel?: string;
  /** A gen model that runs the bot's commands by function calling. */
  readonly toolModel?: string;
  /** Gen models that answer with text and images. */
  readonly illustratingModels: readonly string[];
  /** Gen models of the thinking preview; empty if it is off. */
  readonly thinkingModels: readonly string[];
}

/** The services that a command may use, bound to the person and channel of the invocation. */
export interface Context extends Pick<System, 'now'> {
  readonly jobs: {
    /** Stores the work as a job before anything is spent. */
    start(request: StartRequest): Promise<Outcome>;
    find(id: string): Promise<JobView | undefined>;
    /** Finished jobs of this channel with songs, newest first. */
    recentSongs(limit: number): Promise<readonly JobView[]>;
    /** {@link recentSongs}, then those of the server's other channels that the person can read. */
    serverSongs(limit: number): Promise<readonly JobView[]>;
    /** The person's running jobs here, or everywhere on this platform. */
    running(where?: { readonly everywhere: boolean }): Promise<readonly JobView[]>;
    /** Cancels a job; false if it has ended. */
    cancel(id: string): Promise<boolean>;
    /** Delivers a result that was finished despite its cancellation; false without a result. */
    reveal(id: string): Promise<boolean>;
    /** The person's newest undelivered results. */
    undelivered(limit: number): Promise<readonly JobView[]>;
    /** Delivers such a result here; undefined if it belongs to someone else or was delivered meanwhile. */
    showHere(id: string): Promise<Outcome | undefined>;
  };
  readonly models: {
    /**
     * Returns the model to use: the named one, or else the channel's, the guild's or the deployment's.
     * Throws UserError if the account has no such model, or if no model is chosen yet.
     */
    resolve(family: Exclude<Family, 'song'>, named: string | undefined): Promise<string>;
    /** Returns a gen model, with its route, for an image made from other images. Throws UserError if the account has none. */
    imageEditor(wanted?: ImageEditorChoice): Promise<string>;
    /** Like `resolve`, for songs. The contract lists their models. */
    song(named: string | undefined): Promise<SongModel>;
    suggest(family: Family, typed: string): Promise<readonly Choice[]>;
    /** The routes whose model list includes this id; empty if no list is available. */
    listedBy(id: string): readonly AnswerDialect[];
    /** True if questions to this chat model may contain images. */
    readsImages(id: string): boolean;
    /** The dialects that have a service, the default first. */
    readonly dialects: readonly AnswerDialect[];
  };
  readonly answerOffer: AnswerOffer;
  /** The families that have a service. */
  readonly families: readonly Family[];
  /** Stores the person's vote on an answer, replacing an earlier one. */
  judge(answer: JobView, judgement: Judgement): Promise<void>;
  /** The reason the bot doesn't receive messages without a mention here, as plain text; undefined if it does. */
  readonly mentionsOnlyNotice: string | undefined;
  readonly inForce: InForce;
  readonly own: Own;
  /** Whether USAGE_COSTS is set, so that units are meaningful. */
  readonly hasUnits: boolean;
  /** For moderators only. {@link Command.moderatorsOnly} checks that before the command runs. */
  readonly moderation: Moderation;
  readonly pages: {
    /** The URL of a song's page; undefined if pages are off or people could not reach it. */
    of(song: JobView): Promise<string | undefined>;
    /** Removes or restores the page of a song. */
    setWithdrawn(song: JobView, withdrawn: boolean): Promise<void>;
  };
  readonly files: {
    /** Returns a file of a finished job: the stored one, or fetched again. Throws UserError if it no longer exists. */
    fileOf(job: JobView, source: MediaSource, accept: FileOption['accept']): Promise<MediaFile>;
    /** Fetches an attached file and reads its marks. Throws UserError if that fails. */
    originOf(file: FileReference): Promise<FileOrigin>;
  };
  /** The voices of this server, or of this conversation in direct messages. */
  readonly voices: {
    /** Sorted by name. */
    list(): Promise<readonly Voice[]>;
    /** False if there is no such voice. */
    remove(personaId: string): Promise<boolean>;
    removed(): Promise<readonly RemovedVoice[]>;
    /** Saves a voice of the gateway. A name that is taken gets a number. */
    save(voice: Voice): Promise<void>;
  };
  readonly schedules: Schedules;
  readonly contests: Contests;
  /** The player of voice channels, loaded on first use; undefined if there are no voice channels. */
  party(): Promise<PartyTools | undefined>;
}
