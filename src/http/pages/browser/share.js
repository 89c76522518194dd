/** The share button: opens the system's share sheet if available, otherwise copies the link. */
import { find } from './elements.js';

export function enableSharing() {
  const button = find(document, 'button.share', HTMLButtonElement);
  const { url = '' } = button.dataset;
  const canShare = typeof navigator.share === 'function';
  if (!canShare && !navigator.clipboard) return;
  const label = find(button, 'span', HTMLElement);
  button.classList.toggle('copies', !canShare);
  label.textContent = canShare ? 'Share' : 'Copy link';
  button.hidden = false;
  button.addEventListener('click', async () => {
    try {
      if (canShare) return await navigator.share({ title: document.title, url });
      await navigator.clipboard.writeText(url);
      label.textContent = 'Copied';
      setTimeout(() => {
        label.textContent = 'Copy link';
      }, 2_000);
    } catch {
      // Cancelled or not allowed. The URL is still in the address bar.
    }
  });
}
