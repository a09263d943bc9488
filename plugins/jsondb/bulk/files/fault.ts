/** A file, or a parameter about it, that cannot be read so: the answer is 422 with the parameter's name. */
export class FileFault extends Error {
  readonly field: string;

  constructor(message: string, field = "file") {
    super(message);
    this.name = "FileFault";
    this.field = field;
  }
}
