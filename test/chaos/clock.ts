/** Loaded before a bot's program: its clock goes ahead by so much, as if the machine had been off. */
const ahead = Number(process.env.CHAOS_CLOCK_AHEAD_MS ?? 0);
const now = Date.now.bind(Date);
Date.now = () => now() + ahead;
