/** Typed element lookup and creation, times as text, and the part of a progress bar. */

/**
 * Returns the first element that matches. Throws TypeError if it is missing or has another type.
 * @template {Element} Type
 * @param {ParentNode} parent
 * @param {string} selector
 * @param {new () => Type} type
 * @returns {Type}
 */
export function find(parent, selector, type) {
  const found = parent.querySelector(selector);
  if (found instanceof type) return found;
  throw new TypeError(`The page has no ${selector}`);
}

/**
 * Returns all elements of a type that match.
 * @template {Element} Type
 * @param {ParentNode} parent
 * @param {string} selector
 * @param {new () => Type} type
 * @returns {Type[]}
 */
export function findAll(parent, selector, type) {
  return [...parent.querySelectorAll(selector)].filter(
    /** @returns {found is Type} */ (found) => found instanceof type,
  );
}

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Partial<Record<string, string>>} attributes
 * @param {...(Node | string)} children
 */
export function element(name, attributes, ...children) {
  const created = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes))
    if (value !== undefined) created.setAttribute(attribute, value);
  created.append(...children);
  return created;
}

/**
 * Formats seconds as `2:31`.
 * @param {number} seconds
 */
export function clockTime(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

/** Nine tenths after the usual time, then ever slower: only the result means completion. @param {number} share of the usual time */
export const partOf = (share) => (share < 1 ? 0.9 * share : 1 - 0.1 / share);
