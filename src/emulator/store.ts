import { BoundedMap } from '../core/util/bounded-map.ts';
import type { SongRecipe } from './studio/synthesizer/recipe.ts';

export type MusicTaskKind = 'songs' | 'lyrics' | 'cover' | 'stems' | 'wav' | 'video';

/** A generated song. Its audio is rendered from the recipe when a route needs it. */
export interface Audio {
  readonly id: string;
  recipe: SongRecipe;
  readonly model: string;
  readonly tags: string;
  readonly createdAt: number;
  seconds: number | null;
  audioUrl: string | null;
  imageUrl: string | null;
}

/** A music task. Complete once its last callback is sent, and `undelivered` if no attempt was accepted. */
export interface MusicTask {
  readonly id: string;
  readonly kind: MusicTaskKind;
  readonly audios: Audio[];
  state: 'working' | 'complete' | 'failed' | 'undelivered';
}

interface Persona {
  readonly id: string;
  readonly audioId: string;
  /** The seed of the singer, equal for every song with this persona. */
  readonly voice: string;
}

export const maxStored = 5000;
/** Each may hold 30 MiB. */
const maxUploads = 8;

export type Store = ReturnType<typeof createStore>;

/** Music tasks and songs in memory. The oldest ones are deleted above a limit. */
export function createStore() {
  const audios = new Collection<Audio>(maxStored * 2);
  const tasks = new Collection<MusicTask>(maxStored);
  const uploads: MusicTask[] = [];
  return {
    tasks,
    audios,
    personas: new Collection<Persona>(maxStored),
    /** Records that a task has an upload. Above eight, the oldest task is deleted. */
    recordUpload(task: MusicTask): void {
      uploads.push(task);
      const oldest = uploads.length > maxUploads ? uploads.shift() : undefined;
      if (oldest === undefined) return;
      tasks.delete(oldest.id);
      for (const audio of oldest.audios) audios.delete(audio.id);
    },
  };
}

/** The latest items by ID. */
export class Collection<Value extends { readonly id: string }> extends BoundedMap<string, Value> {
  add(value: Value): Value {
    this.set(value.id, value);
    return value;
  }
}
