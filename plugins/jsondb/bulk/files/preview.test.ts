import { describe, expect, test } from "bun:test";
import { bytesIn, utf16 } from "../../../../tests/fixtures/encoded.ts";
import { previewOf, type Preview } from "./preview.ts";

const options = { locale: "en", timeZone: "Europe/Warsaw" };

async function preview(text: string | Uint8Array, more: object = {}): Promise<Preview> {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  return previewOf(bytes, true, { ...options, ...more });
}

async function column(values: readonly string[], more: object = {}) {
  const cells = values.map((value) => `"${value.replaceAll('"', '""')}",x`);
  const { columns } = await preview(`value,other\r\n${cells.join("\r\n")}\r\n`, more);
  const [found] = columns;
  if (!found) throw new Error("there is no column");
  return found;
}

describe("the type and format of a column", () => {
  const cases: [string, string[], unknown, unknown][] = [
    ["whole numbers", ["1", "-20", "300"], "integer", { thousands: "" }],
    ["a decimal point", ["1.5", "20", "3.25"], "number", { decimal: ".", thousands: "" }],
    ["a decimal comma", ["1,5", "20", "3,25"], "number", { decimal: ",", thousands: "" }],
    ["groups and a comma", ["1 234,50", "20,00"], "number", { decimal: ",", thousands: " " }],
    ["groups of no-break spaces", ["1\u00a0234\u00a0567", "20"], "integer", { thousands: " " }],
    ["groups with points", ["1.234.567,5", "20"], "number", { decimal: ",", thousands: "." }],
    ["groups with commas", ["1,234.50", "20"], "number", { decimal: ".", thousands: "," }],
    ["Swiss groups", ["1'234'567", "20"], "integer", { thousands: "'" }],
    ["zeros before the digits", ["00123", "45678"], "string", {}],
    ["telephone numbers", ["+48 600 100 200", "+49 30 1234567"], "string", { kind: "phone" }],
    ["telephone numbers with area codes", ["030/123456", "(030) 12 34", "0171 2345678"], "string", { kind: "phone" }],
    ["telephone numbers and short ones", ["+49 30 123456", "030 123456", "112"], "string", { kind: "phone" }],
    ["numbers of invoices", ["012/2026", "013/02/2026"], "string", {}],
    ["codes with a dash", ["00-950", "01-234"], "string", {}],
    ["identifiers of many digits", ["12345678901234567890", "12345678901234567891"], "string", {}],
    ["long whole numbers", ["9007199254740993", "9223372036854775807"], "integer", { thousands: "" }],
    ["percentages", ["25%", "12,5 %"], "number", { decimal: ",", thousands: "", kind: "percent" }],
    ["euros", ["1.234,50 €", "2,00 €"], "number", { decimal: ",", thousands: ".", kind: "money", currency: "EUR" }],
    ["dollars", ["$1,234.50", "-$2.00"], "number", { decimal: ".", thousands: ",", kind: "money", currency: "USD" }],
    ["zlotys", ["1 234,50 zł", "2,00 zł"], "number", { decimal: ",", thousands: " ", kind: "money", currency: "PLN" }],
    ["codes of a currency", ["PLN 12.50", "3.00 PLN"], "number", { decimal: ".", kind: "money", currency: "PLN" }],
    ["two currencies", ["12.50 PLN", "3.00 EUR"], "string", {}],
    ["days of ISO 8601", ["2026-01-31", "2026-02-01"], "date", { date_order: "ymd" }],
    ["days with points", ["31.01.2026", "1.2.2026"], "date", { date_order: "dmy" }],
    ["days with slashes, the day first", ["31/01/2026", "01/02/2026"], "date", { date_order: "dmy" }],
    ["days with slashes, the month first", ["01/31/2026", "01/02/2026"], "date", { date_order: "mdy" }],
    ["days with two digits of the year", ["31.01.26", "01.02.99"], "date", { date_order: "dmy" }],
    ["times with a zone", ["2026-01-31 10:00:00 +0100", "2026-01-31T10:00:00Z"], "datetime", { date_order: "ymd" }],
    ["times without a zone", ["31.01.2026 10:00"], "datetime", { date_order: "dmy", time_zone: "Europe/Warsaw" }],
    ["times of a half day", ["1/31/2026 2:03pm"], "datetime", { date_order: "mdy", time_zone: "Europe/Warsaw" }],
    ["times of day", ["10:00", "23:59:59"], "time", {}],
    ["English words", ["Yes", "no", "YES"], "boolean", { true: "yes", false: "no" }],
    ["Polish words", ["tak", "Nie"], "boolean", { true: "tak", false: "nie" }],
    ["German words", ["Ja", "Nein"], "boolean", { true: "ja", false: "nein" }],
    ["mixed words", ["Ja", "yes"], "string", {}],
    ["addresses of mail", ["ann@example.com", "bob@example.com"], "string", { kind: "email" }],
    ["addresses of pages", ["https://example.com/a?b=1", "http://example.org"], "string", { kind: "url" }],
    ["names", ["Ann", "Bob"], "string", {}],
    ["texts of several lines", ["Ann\nBob", "Bob"], "text", {}],
    ["an impossible day", ["31.02.2026", "01.02.2026"], "string", {}],
    ["hours beyond a day", ["36:15:00", "12:00:00"], "string", {}],
    ["one value that decides", ["1.234", "2.345", "1,5"], "number", { decimal: ",", thousands: "." }],
    ["one day that decides", ["01/02/2026", "03/04/2026", "25/04/2026"], "date", { date_order: "dmy" }],
    ["both orders of a day", ["31/12/2026", "12/31/2026"], "string", {}],
    ["two words of one letter", ["T", "N"], "boolean", { true: "t", false: "n" }],
    ["words of Excel in Polish", ["PRAWDA", "FAŁSZ"], "boolean", { true: "prawda", false: "fałsz" }],
    ["words of Excel in German", ["WAHR", "FALSCH"], "boolean", { true: "wahr", false: "falsch" }],
    ["a currency before the amount", ["€ 1.234,50", "€ 2,00"], "number", { decimal: ",", currency: "EUR" }],
    ["amounts in brackets", ["(1.234,50)", "2,00"], "number", { decimal: ",", thousands: "." }],
  ];
  test.each(cases)("%s", async (_, values, type, format) => {
    const found = await column(values);
    expect([found.type, found.format, found.doubtful]).toEqual([type, expect.objectContaining(format as object), []]);
  });

  test("names what can be read in two ways", async () => {
    const days = await column(["01/02/2026", "03/04/2026", "05/05/2026"]);
    expect([days.type, days.format.date_order]).toEqual(["date", "mdy"]);
    expect(days.doubtful).toEqual([
      { row: 1, value: "01/02/2026", why: "read as 2026-01-02, could also be 2026-02-01" },
      { row: 2, value: "03/04/2026", why: "read as 2026-03-04, could also be 2026-04-03" },
    ]);
    const numbers = await column(["1,234", "12"]);
    expect([numbers.type, numbers.doubtful]).toEqual([
      "integer",
      [{ row: 1, value: "1,234", why: "read as 1234, could also be 1.234" }],
    ]);
  });

  test("decides what is ambiguous by the other columns and the file", async () => {
    const { columns } = await preview("a;b;c\n1,234;01/02/2026;x\n5;03/04/2026;y\n");
    expect(columns.map(({ type, format }) => [type, format.decimal ?? format.date_order])).toEqual([
      ["number", ","],
      ["date", "dmy"],
      ["string", undefined],
    ]);
    const other = await preview("a,b\n01/02/2026,31/12/2026\n03/04/2026,1/1/2026\n");
    expect(other.columns.map(({ format }) => format.date_order)).toEqual(["dmy", "dmy"]);
    expect(other.columns.map(({ doubtful }) => doubtful.length)).toEqual([2, 0]);
  });

  test("names the few values of a long column that do not fit", async () => {
    const found = await column([...Array.from({ length: 40 }, (_, at) => `${at}`), "n/a"]);
    expect([found.type, found.doubtful]).toEqual([
      "integer",
      [{ row: 41, value: "n/a", why: "is no whole number: a whole number like 1234 is expected" }],
    ]);
    expect((await column(["1", "2", "n/a"])).type).toBe("string");
    // In a short one by far the most decide: a fifth may be mistakes, up to three.
    const short = await column(["1,50", "2,00", "on request", "3,25", "4,00"]);
    expect([short.type, short.doubtful.map(({ row, value }) => [row, value])]).toEqual(["number", [[3, "on request"]]]);
    const dates = (wrong: number) => [
      ...Array.from({ length: 10 }, (_, at) => `${at + 10}.01.2026`),
      ...Array<string>(wrong).fill("soon"),
    ];
    expect((await column(dates(2))).type).toBe("date");
    expect((await column(dates(3))).type).toBe("string");
  });

  test("of addresses goes by the same shares of mistakes", async () => {
    const mails = Array.from({ length: 59 }, (_, at) => `p${at}@example.com`);
    const found = await column(["no mail", ...mails]);
    expect([found.type, found.format]).toEqual(["string", { kind: "email" }]);
    expect(found.doubtful).toEqual([{ row: 1, value: "no mail", why: expect.any(String) }]);
    expect((await column(["a", "b", "c", "d", ...mails])).format).toEqual({});
    // Into a field that is there already any text goes.
    const fields = [{ name: "value", type: "string", labels: [] }];
    expect((await column(["no mail", ...mails], { fields })).format).toEqual({});
  });

  test("reads times in UTC where the head of the column says so", async () => {
    const { columns } = await preview("Created (UTC),Seen\n2026-01-31 10:00,2026-01-31 10:00\n");
    expect(columns.map(({ format }) => format.time_zone)).toEqual(["UTC", "Europe/Warsaw"]);
  });

  test("compares with the fields of a database", async () => {
    const fields = [
      { name: "first_name", type: "string", labels: [] },
      { name: "active", type: "boolean", labels: ["Aktywny"] },
      { name: "price", type: "number", labels: [] },
    ];
    const { columns } = await preview("First Name,aktywny,PRICE,Note\nAnn,1,5,a\nBob,0,x,b\n", { fields });
    expect(columns.map(({ field, type }) => [field, type])).toEqual([
      ["first_name", "string"],
      ["active", "boolean"],
      ["price", "number"],
      [null, "string"],
    ]);
    expect(columns[1]?.format).toEqual({ true: "1", false: "0" });
    expect(columns[2]?.doubtful).toEqual([{ row: 2, value: "x", why: expect.stringContaining("is no number") }]);
  });
});

describe("the table in a file", () => {
  const files: [string, string, object][] = [
    ["semicolons", "a;b\n1;2\n", { format: "csv", delimiter: ";", header_row: 1, rows: 1 }],
    ["tabs", "a\tb\n1\t2\n", { format: "tsv", delimiter: "\t", header_row: 1, rows: 1 }],
    ["the separator that Excel names", "sep=;\r\na;b\r\n1;2\r\n", { delimiter: ";", header_row: 2, rows: 1 }],
    ["commas in cells", "a;b\n1,5;2,5\n3,5;4,5\n", { delimiter: ";", rows: 2 }],
    ["titles above the header", "Report of January, 2026\n\nName,Price\nA,1\nB,2\n", { header_row: 3, rows: 2 }],
    ["no header", "Ann,1\nBob,2\n", { header_row: 0, rows: 2 }],
    ["no header, of words alone", "Ann,Kowalska\nBob,Nowak\nAnn,Nowak\n", { header_row: 0, rows: 3 }],
    ["only a header", "Name,Price\n", { header_row: 1, rows: 0 }],
    ["a byte order mark", "\uFEFFa,b\n1,2\n", { encoding: "utf-8", header_row: 1 }],
    ["a byte order mark before a separator", "\uFEFFsep=;\r\na;b\r\n1;2\r\n", { delimiter: ";", header_row: 2 }],
    ["lines that end in a carriage return", "a;b\r1;2\r3;4\r", { delimiter: ";", header_row: 1, rows: 2 }],
    ["a header of two rows", "Name;Address;\n;Street;Town\nA;x;Ulm\nB;y;Bonn\n", { header_row: 2, rows: 2 }],
    ["a JSON array", '[{"a":1},{"b":"x"}]', { format: "json", header_row: 0, rows: 2, delimiter: null }],
    ["NDJSON", '{"a":1}\n{"a":2}\n', { format: "ndjson", rows: 2 }],
    [
      "rows that are too short",
      "a,b\n1\n2,3\n",
      { errors: [{ row: 1, line: 2, field: null, message: expect.any(String) }] },
    ],
    ["rows that are wrong", 'a,b\n1,"x"y\n2,z\n', { rows: 2, errors: [expect.objectContaining({ row: 1, line: 2 })] }],
  ];
  test.each(files)("%s", async (_, text, facts) => {
    expect(await preview(text)).toMatchObject(facts);
  });

  test("names of columns are unique, without control characters, and short", async () => {
    const { columns } = await preview(`Name,Name,,a\0b,${"x".repeat(300)},id\n1,2,3,4,5,6\n`);
    expect(columns.map(({ name, field }) => [name, field])).toEqual([
      ["Name", "name"],
      ["Name (2)", "name_2"],
      ["column 3", "column_3"],
      ["a b", "a_b"],
      ["x".repeat(255), "x".repeat(60)],
      ["id", "original_id"],
    ]);
  });

  test("keeps the types of JSON, and every digit", async () => {
    const { columns } = await preview(
      '[{"n":1.234,"s":"1,5","long":12345678901234567890.5,"yes":true,"list":[1]},{"n":2,"s":"2,5"}]',
    );
    expect(columns.map(({ name, type }) => [name, type])).toEqual([
      ["n", "number"],
      ["s", "number"],
      ["long", "number"],
      ["yes", "boolean"],
      ["list", null],
    ]);
    expect(columns[0]?.doubtful).toEqual([]);
    expect(columns[2]?.samples).toEqual(["12345678901234567890.5"]);
  });
});

describe("the encoding of a file", () => {
  const polish = "Imię;Miasto\r\nŻaneta;Łódź\r\nGrzegorz;Kraków\r\n";
  const texts: [string, string, number[]][] = [
    ["windows-1250", polish, bytesIn(polish, "windows-1250")],
    ["windows-1252", "Größe;Straße\r\nä;Café\r\n", bytesIn("Größe;Straße\r\nä;Café\r\n", "windows-1252")],
    ["windows-1250", "Město;Číslo\r\nPříbram;škola\r\n", bytesIn("Město;Číslo\r\nPříbram;škola\r\n", "windows-1250")],
    ["utf-16le", polish, [0xff, 0xfe, ...utf16(polish)]],
    ["utf-16le", polish, utf16(polish)],
    ["utf-8", polish, [...new TextEncoder().encode(polish)]],
  ];
  test.each(texts)("%s", async (encoding, text, bytes) => {
    const found = await preview(Uint8Array.from(bytes));
    expect([found.encoding, found.columns.map(({ name }) => name)]).toEqual([
      encoding as never,
      text.split("\r\n", 1)[0]?.split(";") ?? [],
    ]);
  });
});
