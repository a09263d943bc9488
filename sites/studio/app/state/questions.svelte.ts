/** Questions that are answered by yes or no, in a dialog of the Studio. One after the other. */

export interface QuestionDetails {
  readonly says: string;
  readonly lines: readonly string[];
}

export interface Question {
  readonly words: string;
  /** What to know before one answers. */
  readonly about: QuestionDetails | undefined;
  /** Takes the question away. */
  answer(yes: boolean): void;
}

class Questions {
  list = $state.raw<readonly Question[]>([]);

  /** `asked` is told of the question: whoever leaves before it is answered says no by it. */
  ask(words: string, about?: QuestionDetails, asked?: (question: Question) => void): Promise<boolean> {
    return new Promise((resolve) => {
      const question: Question = {
        words,
        about,
        answer: (yes) => {
          this.list = this.list.filter((other) => other !== question);
          resolve(yes);
        },
      };
      this.list = [...this.list, question];
      asked?.(question);
    });
  }
}

export const questions = new Questions();
