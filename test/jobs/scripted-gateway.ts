import type { Answer, AnswerEvent, AnswerPart } from '../../src/gateway/answers.ts';
import type { Gateway } from '../../src/gateway/client.ts';
import type { VideoTask } from '../../src/gateway/media/responses.ts';
import type { AlignedWord } from '../../src/gateway/music/client.ts';
import type { GatewayErrorCode } from '../../src/gateway/transport/errors.ts';
import { GatewayError } from '../../src/gateway/transport/errors.ts';

export interface Sent {
  readonly route: string;
  readonly request: Record<string, unknown>;
}

/** A promise keeps the gateway busy. */
export type Reply = 'taken' | GatewayError | Promise<'taken'>;

/** A gateway with responses controlled by the test. Records the accepted work. */
export class ScriptedGateway implements Omit<Gateway, 'checkKey'> {
  /** Accepted paid work, in order. */
  readonly taken: Sent[] = [];
  /** Responses to the next submissions; `taken` by default. */
  readonly replies: Reply[] = [];
  /** The synced lyrics of every song. */
  readonly words: AlignedWord[] = [];
  /** Responses to the next polls of a video; `running` by default. */
  readonly polls: (VideoTask | GatewayError)[] = [];
  /** Contents and ends of the next streams. */
  readonly streams: (readonly (AnswerEvent | GatewayError)[])[] = [];
  /** The text and the images of each gen image. */
  readonly drawn: AnswerPart[] = [];
  /** Called around every submission, so that a test can kill the process. */
  crash: (point: string) => void = () => undefined;

  readonly music: Gateway['music'] = {
    generate: (request) => this.#submit('music.generate', request),
    extend: (request) => this.#submit('music.extend', request),
    generateLyrics: (request) => this.#submit('music.generateLyrics', request),
    generateCover: (request) => this.#submit('music.generateCover', request),
    uploadCover: (request) => this.#submit('music.uploadCover', request),
    uploadExtend: (request) => this.#submit('music.uploadExtend', request),
    addVocals: (request) => this.#submit('music.addVocals', request),
    addInstrumental: (request) => this.#submit('music.addInstrumental', request),
    vocalRemoval: (request) => this.#submit('music.vocalRemoval', request),
    wavGenerate: (request) => this.#submit('music.wavGenerate', request),
    mp4Generate: (request) => this.#submit('music.mp4Generate', request),
    styleGenerate: async (request) => {
      await this.#submit('music.styleGenerate', request);
      return `${request.content}, polished`;
    },
    timestampedLyrics: async (request) => {
      await this.#submit('music.timestampedLyrics', request);
      return [...this.words];
    },
    generatePersona: async (request) => {
      await this.#submit('music.generatePersona', request);
      return { personaId: `persona-of-${request.audioId}`, name: request.name };
    },
  };

  readonly media: Gateway['media'] = {
    createImage: async (request) => {
      await this.#submit('media.image', request);
      return { images: ['https://gateway.example/picture.png'] };
    },
    createVideo: async (request) => {
      const { taskId } = await this.#submit('media.video', request);
      return { taskId, status: 'pending' };
    },
    queryVideo: async () => {
      const reply = this.polls.shift() ?? { status: 'running' };
      if (reply instanceof GatewayError) throw reply;
      return reply;
    },
  };

  readonly chat: Gateway['chat'] = {
    stream: (question) => this.#stream('chat', question),
  };

  readonly gen: Gateway['gen'] = {
    stream: (question) => this.#stream('gen', question),
    generateImage: async (question) => {
      await this.#submit('gen.image', question);
      return { parts: this.drawn, finish: { reason: 'stop' } };
    },
    callTools: (question) => this.#answer('gen.tools', question),
    think: (question) => this.#answer('gen.think', question),
  };

  readonly msg: Gateway['msg'] = {
    complete: (question) => this.#answer('msg', question),
  };

  readonly models: Gateway['models'] = {
    refresh: async () => [],
    startRefreshing: () => undefined,
    stop: async () => undefined,
    cached: () => [],
    resolve: () => ({ kind: 'unlisted' }),
    find: async () => ({ kind: 'unlisted' }),
    preferred: () => undefined,
    ready: async () => undefined,
    readsImages: () => false,
    dialects: ['chat', 'msg', 'gen'],
  };

  /** Number of accepted requests for this job, identified by their callback URL. */
  acceptedCount(job: string, route: string): number {
    return this.taken.filter((sent) => sent.route === route && String(sent.request.callBackUrl).includes(job))
      .length;
  }

  async #submit(route: string, request: object): Promise<{ taskId: string }> {
    this.crash(`before ${route}`);
    const reply = await (this.replies.shift() ?? 'taken');
    if (reply instanceof GatewayError && reply.taken === 'no') throw reply;
    this.taken.push({ route, request: { ...request } });
    this.crash(`after ${route}`);
    if (reply instanceof GatewayError) throw reply;
    return { taskId: `task-${this.taken.length}` };
  }

  async #answer(route: string, question: object): Promise<Answer> {
    await this.#submit(route, question);
    return { parts: [{ type: 'text', text: 'A whole answer.' }], finish: { reason: 'stop' } };
  }

  async *#stream(route: string, question: object): AsyncIterable<AnswerEvent> {
    this.taken.push({ route, request: { ...question } });
    for (const event of this.streams.shift() ?? []) {
      this.crash(`in ${route}`);
      if (event instanceof GatewayError) throw event;
      yield event;
    }
  }
}

/** An error like the client's. */
export function gatewayError(
  code: GatewayErrorCode,
  { retryable = false, taken = 'no' }: { retryable?: boolean; taken?: 'no' | 'unknown' } = {},
): GatewayError {
  return new GatewayError({
    code,
    route: 'music/generate',
    retryable,
    taken,
  });
}
