/** Emoji for the icons of buttons. They include variation selectors, without which chats show some of them as plain signs. */
import type { Icon } from '../../core/message.ts';

export const EMOJI = {
  again: '🔁',
  cancel: '⏹️',
  change: '✏️',
  cover: '🖼️',
  extend: '⏩',
  karaoke: '🎤',
  listen: '🎧',
  lyrics: '📝',
  open: '↩️',
  page: '🌐',
  pause: '⏸️',
  play: '▶️',
  remove: '🗑️',
  stems: '🎚️',
  thread: '💬',
  video: '🎬',
  voice: '🗣️',
  wav: '💿',
} as const satisfies Readonly<Record<Icon, string>>;
