/** Downloads and decodes audio files. */

/**
 * @param {string} url
 * @returns {Promise<ArrayBuffer>}
 */
export async function download(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`status ${response.status}`);
  return await response.arrayBuffer();
}

/**
 * Decodes a copy of a file, because decoding detaches its buffer.
 * @param {BaseAudioContext} context
 * @param {ArrayBuffer} file
 */
export const decode = (context, file) => context.decodeAudioData(file.slice(0));

/** @param {AudioBuffer} buffer */
export const channelsOf = (buffer) =>
  Array.from({ length: buffer.numberOfChannels }, (_, index) => buffer.getChannelData(index));
