/**
 * How each tone speaks. `{topic}` is the headline, `{interest}` what the audience cares for. No
 * sentence claims anything: what is true of the topic the composer does not know.
 */
import type { Persona } from '@chimera/dialects/skills/persona'

export type Tone = Persona['voice_tone']
type Lines = readonly [string, ...string[]]

export type ToneLines = {
  readonly hooks: Lines
  readonly contexts: Lines
  readonly turns: Lines
  readonly closers: Lines
  readonly emoji: Lines
}

export const TONES: Readonly<Record<Tone, ToneLines>> = {
  formal: {
    hooks: [
      '{topic}. A development worth a closer look.',
      'A subject of the day: {topic}.',
      '{topic}. What follows from it deserves some thought.',
    ],
    contexts: [
      'It concerns everybody who follows {interest}.',
      'Those who follow {interest} will want to know what is behind it.',
      'It touches on {interest}, and on how we decide about it.',
    ],
    turns: [
      'Before we judge, it helps to ask who is affected and how.',
      'There are several ways to read it, and each has its reasons.',
      'The details matter here more than the headline.',
    ],
    closers: [
      'We will continue to follow it.',
      'We look forward to your view.',
      'More will follow.',
    ],
    emoji: ['📌', '📖', '🔎', '🗓️'],
  },
  casual: {
    hooks: [
      'Okay, so this is going around: {topic}.',
      'Have you seen this? {topic}.',
      'Let’s talk about it: {topic}.',
      '{topic}. Yes, really.',
    ],
    contexts: [
      'If you are into {interest}, this one is for you.',
      'We know you like {interest}, so we had to bring it up.',
      'It sits right between {interest} and the things we talk about at lunch.',
    ],
    turns: [
      'We read it twice, and we are still not done thinking about it.',
      'There is more to it than the headline says.',
      'What we like about it: it is easy to have an opinion, and hard to be sure.',
    ],
    closers: ['So, what do you think?', 'Tell us how you see it.', 'Your turn.'],
    emoji: ['👀', '💬', '✨', '🙌'],
  },
  humorous: {
    hooks: [
      '{topic}. We checked: it is not a typo.',
      'Nobody asked us about this, so here we are: {topic}.',
      'Our group chat has one subject today: {topic}.',
    ],
    contexts: [
      'It has everything: suspense, {interest}, and at least one spreadsheet.',
      'Finally something that makes {interest} sound simple.',
      'Somewhere, a person who loves {interest} just dropped their spoon.',
    ],
    turns: [
      'We made a list of serious thoughts about it. It is a short list.',
      'Experts in our kitchen are divided.',
      'We have questions, and most of them start with “wait”.',
    ],
    closers: [
      'Discuss, politely.',
      'We will be here, refreshing the page.',
      'Send snacks and opinions.',
    ],
    emoji: ['😅', '🍿', '🙃', '🤷'],
  },
  technical: {
    hooks: [
      '{topic}: what is known, and what is not yet.',
      'A short breakdown: {topic}.',
      '{topic}. The interesting part is how.',
    ],
    contexts: [
      'For everybody who works with {interest}, the details decide.',
      'It matters for {interest} in practice, not only in theory.',
      'Read it with {interest} in mind: constraints first, conclusions later.',
    ],
    turns: [
      'Three things to look at: what changed, what it depends on, and how one would check it.',
      'The claim is simple; the conditions under which it holds are the real story.',
      'Ask what would have to be true for it to work twice.',
    ],
    closers: [
      'Corrections are welcome.',
      'Which detail did we miss?',
      'Notes and counterexamples, please.',
    ],
    emoji: ['🔧', '🧪', '📐', '🧭'],
  },
  inspirational: {
    hooks: [
      '{topic}. Small steps, seen from close by.',
      'Something to carry into the day: {topic}.',
      '{topic}. Somebody started this with a single idea.',
    ],
    contexts: [
      'If {interest} is close to your heart, take a minute for it.',
      'It reminds us why {interest} is worth the effort.',
      'Everybody who cares for {interest} can begin somewhere; this is one place.',
    ],
    turns: [
      'What we take from it: begin, look, and begin again a little better.',
      'Change is mostly people who do not wait for a better moment.',
      'It is less about being first than about staying with it.',
    ],
    closers: [
      'What will you begin today?',
      'Pass it on to somebody who needs it.',
      'One step is enough.',
    ],
    emoji: ['🌱', '🌅', '💛', '🕊️'],
  },
  edgy: {
    hooks: [
      '{topic}. Look closely.',
      'Everybody has an opinion about it already: {topic}.',
      '{topic}. Comfortable? Good. Now think again.',
    ],
    contexts: [
      'If {interest} is your thing, do not look away.',
      'It scratches at what we like to believe about {interest}.',
      'The polite version leaves {interest} out. We do not.',
    ],
    turns: [
      'The headline is the easy part. The question behind it is not.',
      'You do not have to agree. You do have to have read it.',
      'Ask who wins if nobody asks.',
    ],
    closers: ['Prove us wrong.', 'Say it out loud.', 'Your move.'],
    emoji: ['⚡', '🔥', '🖤', '🎯'],
  },
}

export const STYLES: Readonly<Record<Persona['content_style']['storytelling_style'], Lines>> = {
  narrative: [
    'Stories like this begin when somebody notices something, and tells somebody else.',
    'Picture the moment before it was a headline.',
    'A story like this has more than one ending, and we do not know ours yet.',
  ],
  listicle: [
    'First, what happened. Second, whom it is about. Third, what could come next.',
    'One thing to know, one to ask, one to remember.',
    'Keep it short: what, why, and what now.',
  ],
  question_answer: [
    'Why now? Because enough people asked the same question at once.',
    'What does it change? That depends on what we do with it.',
    'Who should care? Whoever has to live with the answer.',
  ],
  data_driven: [
    'Look at the source before you look at the number.',
    'What would the chart have to show for you to change your mind?',
    'Measure twice, share once.',
  ],
  inspirational: [
    'Every large thing was a small one for a while.',
    'Good news is often slow news that somebody noticed.',
    'What grows, grows from somewhere.',
  ],
}

export const CALLS: Readonly<Record<Persona['engagement_strategy']['call_to_action'], Lines | []>> =
  {
    none: [],
    like_comment_share: ['Tell us in the comments what you make of it.', 'Share your view below.'],
    link_click: ['The whole story is behind the link.', 'Follow the link for the rest of it.'],
    purchase: ['You will find it in our shop.', 'Have a look at it in our shop.'],
    follow: ['Follow us for more of this.', 'Stay with us for what comes next.'],
  }
