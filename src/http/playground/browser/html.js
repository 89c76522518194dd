/** Markup in templates. Values in them become text or properties, never markup. */
import htm from 'htm';
import { h } from 'preact';

export const html = htm.bind(h);
