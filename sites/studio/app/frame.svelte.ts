/** What the page in the frame tells the frame. */

class Frame {
  /** The name of what is shown, once it is known. */
  title = $state("");
}

export const frame = new Frame();
