/** Requests to the gateway and their results. Types only, so that no layer depends on the client. */
import type { Finish, TextPart, Usage } from '../gateway/answers.ts';
import type { ImageRequest, VideoRequest } from '../gateway/media/requests.ts';
import type * as music from '../gateway/music/requests.ts';
import type { LyricVariant, SongItem, StemItem } from '../gateway/music/results.ts';
import type { Question, Turn } from '../gateway/questions.ts';
import type { HistoryReference } from './invocation.ts';
import type { MediaFile, MediaSource } from './message.ts';
import type { MODEL_ROUTES } from './models/model-name.ts';
import type { FileReference } from './options.ts';

/** A request as a command writes it. Jobs add the callback URL. */
type Callable<Request> = Request extends unknown ? Omit<Request, 'callBackUrl'> : never;
/** The same for work on a recording. Jobs also add its signed URL and the second to continue from. */
type Uploading<Request> = Request extends unknown
  ? Omit<Request, 'callBackUrl' | 'uploadUrl' | 'continueAt'>
  : never;

/** A file of another job's result, not fetched yet. */
export interface ResultFile {
  readonly job: string;
  readonly source: MediaSource;
}

export type NamedFile = FileReference | ResultFile;
export type WorkFile = MediaFile | NamedFile;

/** A stored recording whose length the gateway accepts. */
export interface MeasuredRecording extends MediaFile {
  readonly seconds: number;
}

/** A recording. The first step of the job fetches and measures it. */
export type Recording = MeasuredRecording | NamedFile;

/** The gateway dialect that answers an `ask` model. */
export type AnswerDialect = (typeof MODEL_ROUTES)['ask'][number];

/** Part of a turn. Attachments are stored as files, so that job records stay small. */
export type InquiryPart =
  | TextPart
  /** An attachment that is not fetched yet. */
  | { readonly type: 'file'; readonly file: FileReference }
  | { readonly type: 'image'; readonly file: MediaFile; readonly name?: string; readonly embedded?: true }
  | { readonly type: 'document'; readonly file: MediaFile; readonly name: string };

export interface InquiryTurn {
  readonly role: Turn['role'];
  readonly parts: readonly InquiryPart[];
  /** The platform's id of the author, or of the person the bot answers. */
  readonly person?: string;
  /** Display name of the author, for conversations of several people. */
  readonly name?: string;
  /** The job that wrote this answer, until the first step has read the full answer from it. */
  readonly job?: string;
  /** The event that this answers, if its job is unknown. */
  readonly answers?: string;
}

/** A question as stored: files by reference. */
export interface Inquiry extends Omit<Question, 'turns' | 'tools'> {
  readonly turns: readonly InquiryTurn[];
}

/** One paid request to the gateway. Stored with the job, so it must be JSON. */
export type Work =
  | {
      readonly route: 'music.generate';
      readonly request: Callable<music.GenerateRequest>;
      /** Rough style tags that `music/style-generate` polishes first. */
      readonly roughStyle?: string;
      /** The topic of the lyrics, which `music/generate-lyrics` writes first. */
      readonly lyricsAbout?: string;
      /** Name of the voice with the `personaId`. */
      readonly voiceName?: string;
    }
  | {
      readonly route: 'music.extend';
      readonly request: Callable<music.ExtendRequest>;
      /** The song has no vocals. */
      readonly instrumental?: boolean;
    }
  | { readonly route: 'music.generateLyrics'; readonly request: Callable<music.GenerateLyricsRequest> }
  | { readonly route: 'music.generateCover'; readonly request: Callable<music.GenerateCoverRequest> }
  | {
      readonly route: 'music.uploadCover';
      readonly request: Uploading<music.UploadCoverRequest>;
      readonly audio: Recording;
      readonly lyricsAbout?: string;
      readonly voiceName?: string;
    }
  | {
      readonly route: 'music.uploadExtend';
      readonly request: Uploading<music.UploadExtendRequest>;
      readonly audio: Recording;
      /** The recording has no vocals. */
      readonly instrumental?: boolean;
    }
  | {
      readonly route: 'music.addVocals';
      readonly request: Uploading<music.AddVocalsRequest>;
      readonly audio: Recording;
    }
  | {
      readonly route: 'music.addInstrumental';
      readonly request: Uploading<music.AddInstrumentalRequest>;
      readonly audio: Recording;
    }
  | {
      readonly route: 'music.timestampedLyrics';
      readonly request: music.TimestampedLyricsRequest;
      /** Header of the .lrc file. */
      readonly song: { readonly title: string; readonly artist: string; readonly durationSeconds?: number };
    }
  | { readonly route: 'music.generatePersona'; readonly request: music.GeneratePersonaRequest }
  | { readonly route: 'music.vocalRemoval'; readonly request: Callable<music.VocalRemovalRequest> }
  | {
      readonly route: 'music.wavGenerate';
      readonly request: Callable<music.WavGenerateRequest>;
    }
  | {
      readonly route: 'music.mp4Generate';
      readonly request: Callable<music.Mp4GenerateRequest>;
    }
  | { readonly route: 'media.image'; readonly request: ImageRequest }
  | {
      readonly route: 'gen.image';
      readonly request: Inquiry;
      /** Reference images, which precede the text. */
      readonly images?: readonly WorkFile[];
    }
  | {
      readonly route: 'media.video';
      readonly request: Omit<VideoRequest, 'imageUrl' | 'audioUrl'>;
      /** Attachments. The gateway gets signed URLs. */
      readonly image?: WorkFile;
      readonly audio?: WorkFile;
    }
  | AnswerWork;

export interface AnswerWork {
  readonly route: 'answer';
  readonly dialect: AnswerDialect;
  /** The chat model may get images. Models of the other dialects always may. */
  readonly readsImages?: true;
  readonly request: Inquiry;
  /** Earlier messages that the first step of the job still has to read into the request. */
  readonly history?: HistoryReference;
  /** The plan to use if the first step finds an image in the conversation. */
  readonly seeing?: AnswerPlans;
  /** Plans to try, in this order, if this model cannot answer. */
  readonly fallbacks?: readonly AnswerPlan[];
  /** Plans whose models could not answer, in the order they were tried. */
  readonly failed?: readonly AnswerPlan[];
  /** Mode of the gen dialect; plain text if absent. Stored under this name. */
  readonly way?: AnswerWay;
  /** Limit of input tokens. The oldest turns are dropped to fit. */
  readonly contextTokens?: number;
  /** The question is a visible message, so the answer does not have to repeat it. */
  readonly reply?: boolean;
  /** False hides model, route and tokens below the answer. */
  readonly footer?: boolean;
  /** Small print, as plain text. */
  readonly note?: string;
}

/** The model that answers, and its mode. */
export interface AnswerPlan extends Pick<AnswerWork, 'dialect' | 'readsImages' | 'way' | 'note'> {
  readonly model: string;
}

/** A plan, and those to try if its model cannot answer. */
export interface AnswerPlans extends AnswerPlan {
  readonly fallbacks?: readonly AnswerPlan[];
}

export type AnswerWay =
  /** Function calling with these commands. `named`: the person chose this model. */
  | { readonly type: 'tools'; readonly commands: readonly string[]; readonly named?: true }
  /** Text and images. */
  | { readonly type: 'illustrated' }
  /** The thinking preview. */
  | { readonly type: 'thinking' };

/** A command that the model ran on behalf of the requester. */
export interface CommandCall {
  readonly command: string;
  /** Its arguments for people, as plain text. */
  readonly given: string;
  /** For `refused`, `sentence` is the reason. */
  readonly outcome: 'started' | 'answered' | 'refused';
  /** The command's reply, as Markdown. */
  readonly sentence?: string;
}

export type Route = Work['route'];

export type SongModel = Extract<Work, { route: 'music.generate' }>['request']['model'];

export interface AnswerResult {
  /** Markdown. */
  readonly text: string;
  /** How the answer ended; absent while it is being written. */
  readonly finish?: Finish | { readonly reason: OwnFinish; readonly detail?: string };
  readonly usage?: Usage;
  /** Commands that the model ran, in order. */
  readonly calls?: readonly CommandCall[];
  readonly leftOut?: Omissions;
}

/** Parts of a question that were not sent to the model. */
export interface Omissions {
  /** Characters cut off at the end of the question, which is too long for the model. */
  readonly characters?: number;
  /** Images of earlier messages that the model rejected. */
  readonly images?: readonly string[];
}

/**
 * Ends that the model did not choose. `stopped`: a person stopped it. `broken`: the stream ended without an end mark. `endless`: the
 * answer exceeded the size limit. `rounds`: the model kept calling commands.
 */
export type OwnFinish = 'stopped' | 'broken' | 'endless' | 'rounds';

/** A line of a song with its start time. */
export interface LyricLine {
  readonly startSeconds: number;
  readonly text: string;
  /** The heading before the line, such as `Chorus`. */
  readonly section?: string;
}

export interface Karaoke {
  /** The lines as an .lrc file; absent for instrumentals. */
  readonly file?: MediaFile;
  readonly lines: readonly LyricLine[];
}

/** The result of saving a voice. Each audio yields one voice only (contract, "Limits" 1). */
export type SavedVoice =
  | { readonly outcome: 'saved'; readonly personaId: string }
  | { readonly outcome: 'already-saved' };

/** The result of a job. Partial until the job is `ready`. */
export interface Result {
  readonly songs: readonly SongItem[];
  readonly lyrics: readonly LyricVariant[];
  /** Temporary URLs of the gateway, or stored files if they arrived as bytes. */
  readonly images: readonly MediaSource[];
  readonly stems: readonly StemItem[];
  readonly wavUrl?: string;
  readonly videoUrl?: string;
  readonly karaoke?: Karaoke;
  readonly voice?: SavedVoice;
  readonly answer?: AnswerResult;
}
