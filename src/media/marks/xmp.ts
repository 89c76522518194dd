/** XMP packets: https://developer.adobe.com/xmp/docs/, with the properties of https://iptc.org/std/photometadata/specification/. */
import { html } from '../../core/web/html.ts';
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
    html`<Iptc4xmpExt:DigitalSourceType>${GENERATED}</Iptc4xmpExt:DigitalSourceType>`,
    model !== undefined && html`<Iptc4xmpExt:AISystemUsed>${printable(model)}</Iptc4xmpExt:AISystemUsed>`,
    html`<xmp:CreatorTool>Minstrel</xmp:CreatorTool><xmp:CreateDate>${day}</xmp:CreateDate>`,
    html`<dc:description><rdf:Alt><rdf:li xml:lang="x-default">${printable(markText(mark))}</rdf:li></rdf:Alt></dc:description>`,
    html`<dc:identifier>${id}</dc:identifier>`,
  ];
  return `<rdf:Description rdf:about="" ${NAMESPACES}>${html`${properties}`.markup}</rdf:Description>`;
}

/** XML allows no control characters, not even escaped. */
const printable = (text: string): string => text.replace(/\p{Cc}/gu, '');
