import type { SongRecipe } from './synth/recipe.ts';

export type MusicModel = 'V4' | 'V4_5' | 'V4_5PLUS' | 'V4_5ALL' | 'V5';
export type MusicTaskKind = 'songs' | 'lyrics' | 'cover' | 'stems' | 'wav' | 'video';

/** One generated song; its sound is made anew from the recipe whenever a route needs it. */
export interface Audio {
  readonly id: string;
  readonly taskId: string;
  readonly recipe: SongRecipe;
  readonly model: MusicModel;
  readonly tags: string;
  readonly createdAt: number;
  seconds: number | null;
  audioUrl: string | null;
  imageUrl: string | null;
}

/** A music task; complete once its last callback was sent, and no longer when no attempt was taken. */
export interface MusicTask {
  readonly id: string;
  readonly kind: MusicTaskKind;
  readonly audios: Audio[];
  state: 'working' | 'complete' | 'failed' | 'undelivered';
}

interface Persona {
  readonly id: string;
  readonly audioId: string;
  readonly name: string;
  readonly description: string;
  /** What a singer is chosen from, equal for every song with this persona. */
  readonly voice: string;
}

type VideoStatus = 'PENDING' | 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'CANCELED' | 'UNKNOWN';
export interface VideoTask {
  readonly id: string;
  readonly requestId: string;
  readonly submittedAt: number;
  readonly prompt: string;
  readonly expandPrompt: boolean;
  readonly resolution: number;
  readonly ratio: string;
  readonly seconds: number;
  status: VideoStatus;
  scheduledAt: number | null;
  endedAt: number | null;
  fileName: string | null;
  failure: { readonly code: string; readonly message: string } | null;
}

/** What the emulator remembers while it runs. Old tasks are forgotten past a bound. */
export interface Store {
  readonly tasks: BoundedMap<MusicTask>;
  readonly audios: BoundedMap<Audio>;
  readonly personas: BoundedMap<Persona>;
  readonly videos: BoundedMap<VideoTask>;
  /** Notes that a task holds an upload of so many bytes; past 256 MiB in all, the oldest such tasks are forgotten. */
  noteUpload(task: MusicTask, bytes: number): void;
}

const mostRemembered = 5000;
const mostUploadBytes = 256 * 1024 * 1024;

export function createStore(): Store {
  const audios = new BoundedMap<Audio>(mostRemembered * 2);
  const tasks = new BoundedMap<MusicTask>(mostRemembered);
  const uploads: { readonly task: MusicTask; readonly bytes: number }[] = [];
  let uploadBytes = 0;
  return {
    tasks,
    audios,
    personas: new BoundedMap(mostRemembered),
    videos: new BoundedMap(mostRemembered),
    noteUpload(task, bytes) {
      uploads.push({ task, bytes });
      uploadBytes += bytes;
      while (uploadBytes > mostUploadBytes) {
        const oldest = uploads.shift();
        if (oldest === undefined) break;
        uploadBytes -= oldest.bytes;
        tasks.delete(oldest.task.id);
        for (const audio of oldest.task.audios) audios.delete(audio.id);
      }
    },
  };
}

/** A map of things with ids that forgets the oldest when it is full. */
class BoundedMap<Value extends { readonly id: string }> {
  readonly #values = new Map<string, Value>();
  readonly #most: number;
  constructor(most: number) {
    this.#most = most;
  }
  add(value: Value): Value {
    this.#values.set(value.id, value);
    for (const oldest of this.#values.keys()) {
      if (this.#values.size <= this.#most) break;
      this.#values.delete(oldest);
    }
    return value;
  }
  delete(id: string): void {
    this.#values.delete(id);
  }
  get(id: string): Value | undefined {
    return this.#values.get(id);
  }
  find(fits: (value: Value) => boolean): Value | undefined {
    return this.#values.values().find(fits);
  }
}
