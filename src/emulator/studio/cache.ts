import type { Commission, Piece } from './commission.ts';
import type { Studio } from './studio.ts';

const mostBytes = 64 * 1024 * 1024;

/**
 * A studio that keeps what it made lately, up to 64 MiB, and makes equal commissions of the same moment once. Films of
 * a client's own files are made anew: they are seldom wanted twice.
 */
export function keepPieces(studio: Studio): Studio {
  const kept = new Map<string, { readonly making: Promise<readonly Piece[]>; bytes: number }>();
  let bytesKept = 0;

  const forget = (key: string): void => {
    bytesKept -= kept.get(key)?.bytes ?? 0;
    kept.delete(key);
  };
  const count = (key: string, pieces: readonly Piece[]): void => {
    const entry = kept.get(key);
    if (entry === undefined) return;
    entry.bytes = sizeOf(pieces);
    bytesKept += entry.bytes;
    for (const oldest of kept.keys()) {
      if (bytesKept <= mostBytes) break;
      forget(oldest);
    }
  };
  return {
    close: () => studio.close(),
    produce(commission) {
      const key = keyOf(commission);
      if (key === null) return studio.produce(commission);
      const known = kept.get(key);
      if (known !== undefined) return known.making;
      const making = studio.produce(commission);
      kept.set(key, { making, bytes: 0 });
      making.then(
        (pieces) => count(key, pieces),
        () => forget(key),
      );
      return making;
    },
  };
}

function sizeOf(pieces: readonly Piece[]): number {
  return pieces.reduce((total, piece) => total + piece.bytes.length, 0);
}

/** A text equal for equal commissions; uploads are named by their digests. Null for what is not kept. */
function keyOf(commission: Commission): string | null {
  const ownFiles =
    commission.kind === 'video' && (commission.image !== null || commission.sound instanceof Uint8Array);
  return ownFiles
    ? null
    : JSON.stringify(commission, (name, value: unknown) => (name === 'audio' ? undefined : value));
}
