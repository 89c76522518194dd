import { bird, cat, dog, fish } from './creatures.ts';
import type { Figure } from './figure.ts';
import { robot, rocket } from './machines.ts';
import { flower, mushroom, pine, tree } from './plants.ts';
import { boat, heart, house } from './things.ts';

const figures: readonly { words: readonly string[]; draw: Figure }[] = [
  { words: ['cat', 'cats', 'kitten', 'kittens', 'lion', 'tiger'], draw: cat },
  { words: ['dog', 'dogs', 'puppy', 'wolf', 'fox', 'horse'], draw: dog },
  { words: ['tree', 'trees', 'forest', 'park', 'jungle', 'oak'], draw: tree },
  { words: ['pine', 'winter', 'christmas', 'mountain', 'mountains', 'snow'], draw: pine },
  { words: ['house', 'home', 'cottage', 'village', 'cabin', 'castle', 'barn'], draw: house },
  { words: ['boat', 'ship', 'sail', 'sailing', 'pirate', 'sailor', 'harbour', 'harbor'], draw: boat },
  { words: ['fish', 'whale', 'dolphin', 'shark', 'goldfish', 'octopus'], draw: fish },
  { words: ['flower', 'flowers', 'rose', 'tulip', 'garden', 'spring', 'meadow', 'blossom'], draw: flower },
  { words: ['heart', 'love', 'valentine', 'romance', 'kiss'], draw: heart },
  { words: ['rocket', 'space', 'spaceship', 'astronaut', 'mars'], draw: rocket },
  { words: ['robot', 'robots', 'android', 'machine', 'ai'], draw: robot },
  { words: ['mushroom', 'mushrooms', 'frog', 'fairy', 'gnome', 'elf'], draw: mushroom },
  { words: ['bird', 'birds', 'dragon', 'eagle', 'owl', 'gull', 'seagull', 'raven'], draw: bird },
];

/** The figures that a prompt names, in its order and at most three, each once. */
export function figuresNamed(words: readonly string[]): Figure[] {
  const named = new Set<Figure>();
  for (const word of words) {
    for (const figure of figures) if (figure.words.includes(word)) named.add(figure.draw);
  }
  return [...named].slice(0, 3);
}
