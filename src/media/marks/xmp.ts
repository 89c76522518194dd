/** XMP packets: https://developer.adobe.com/xmp/docs/, with the properties of https://iptc.org/std/photometadata/specification/. */
import { GENERATED, markText, type SignedMark } from './mark.ts';

const NAMESPACES =
  'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"';
const END = '</rdf:RDF>';

/** Returns a packet with the mark. Keeps the properties of an older packet. */
export function xmpPacket(mark: SignedMark, old?: string): string {
  const end = old?.lastIndexOf(END) ?? -1;
  if (old !== undefined && end >= 0) return old.slice(0, end) + description(mark) + old.slice(end);
  return `<?xpacket begin="\uFEFF" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">${description(mark)}${END}</x:xmpmeta>
<?xpacket end="r"?>`;
}

function description(mark: SignedMark): string {
  const { model, day, id } = mark;
  const properties = [
    `<Iptc4xmpExt:DigitalSourceType>${GENERATED}</Iptc4xmpExt:DigitalSourceType>`,
    ...(model === undefined
      ? []
      : [`<Iptc4xmpExt:AISystemUsed>${escapeXml(model)}</Iptc4xmpExt:AISystemUsed>`]),
    `<xmp:CreatorTool>Minstrel</xmp:CreatorTool><xmp:CreateDate>${day}</xmp:CreateDate>`,
    `<dc:description><rdf:Alt><rdf:li xml:lang="x-default">${escapeXml(markText(mark))}</rdf:li></rdf:Alt></dc:description>`,
    `<dc:identifier>${escapeXml(id)}</dc:identifier>`,
  ];
  return `<rdf:Description rdf:about="" ${NAMESPACES}>${properties.join('')}</rdf:Description>`;
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escapeXml(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 allows no other control characters
  const allowed = text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '');
  return allowed.replace(/[&<>"]/g, (character) => ESCAPES[character] ?? '');
}
