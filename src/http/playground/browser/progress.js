/** The progress of a job. */
import { html, useEffect, useState } from 'htm/preact/standalone';
import { clockTime, partOf } from '../../pages/browser/elements.js';

/** @import { Progress } from '../../../core/message.ts' */

/** @param {{ progress: Progress }} props */
export function ProgressLine({ progress: { stage, startedAt, queuePosition, estimateMs, until } }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, []);
  const elapsed = Math.max(0, now - startedAt);
  const facts = [
    queuePosition === undefined ? '' : `position ${queuePosition} in the queue`,
    clockTime(elapsed / 1000),
    until === undefined ? '' : `${clockTime((until - now) / 1000)} left`,
    estimateMs === undefined ? '' : `usually about ${clockTime(estimateMs / 1000)}`,
  ];
  const part = estimateMs ? partOf(elapsed / estimateMs) : undefined;
  return html`<div class="progress">
    <p><span dir="auto">${stage}</span> <span class="small">${facts.filter(Boolean).join(' · ')}</span></p>
    <div class=${part === undefined ? 'track unknown' : 'track'}>
      <span style=${part === undefined ? {} : { width: `${part * 100}%` }}></span>
    </div>
  </div>`;
}
