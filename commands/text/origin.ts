/** Describes the origin of a file as Markdown. */
import { plain } from '../../src/core/message.ts';
import type { FileOrigin } from '../../src/core/origin.ts';
import { longDay } from '../../src/core/util/words.ts';

const NO_PROOF = "Marks can be removed, so this doesn't prove that a person made it.";

/** `name` is the file's name. */
export function originText(name: string, origin: FileOrigin): string {
  return `**${plain(name)}**\n${sentencesAbout(origin).join(' ')}`;
}

function sentencesAbout({ mark, isStored, hasManifest, isGenerated, isReadable }: FileOrigin): string[] {
  if (mark) return [...ownSentences(mark), unchangedSentence(isStored)];
  const elsewhere = [
    ...(isGenerated ? ['The mark says that AI generated the file.'] : []),
    ...(hasManifest
      ? ['It has Content Credentials (C2PA). Check them at https://contentcredentials.org/verify.']
      : []),
  ];
  if (isStored) return ['I posted or received this file, and it has not changed since.', ...elsewhere];
  if (elsewhere.length > 0) return ['Another service marked this file.', ...elsewhere];
  if (!isReadable) return ["I can't read marks in files of this type."];
  return ['I found no mark in this file.', NO_PROOF];
}

function ownSentences({ day, model, job }: NonNullable<FileOrigin['mark']>): string[] {
  const generated = `I generated this with AI on ${longDay(Date.parse(day))}${model === undefined ? '' : `, with ${plain(model)}`}.`;
  if (!job)
    return [
      generated,
      "I can't show who requested it: the job was deleted, or someone else requested it in another channel.",
    ];
  return [generated, `${plain(job.person.displayName)} requested it: ${plain(job.title)}.`];
}

const unchangedSentence = (isStored: boolean): string =>
  isStored
    ? 'It has not changed since.'
    : "It doesn't match any file I still have: it was changed, the mark was copied from another file, or I deleted my copy.";
