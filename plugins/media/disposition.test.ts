import { expect, test } from "bun:test";
import { dispositionOf } from "./multipart.ts";

test.each<[string, string, string | undefined]>([
  ['form-data; name="file"; filename="żółw.txt"', "file", "żółw.txt"],
  ['form-data; name="zdjęcie"', "zdjęcie", undefined],
  ['form-data; name="file"; filename="東京 🐢.txt"', "file", "東京 🐢.txt"],
  ["form-data;name=file;filename=plain.txt", "file", "plain.txt"],
  ['form-data; NAME="file" ; FileName = "a.txt" ', "file", "a.txt"],
  ['form-data; name="file"; filename="a;b=c.txt"', "file", "a;b=c.txt"],
  ['form-data; name="file"; filename="say \\"hi\\".txt"', "file", 'say "hi".txt'],
  ['form-data; name="file"; filename="C:\\dir\\a.txt"', "file", "C:\\dir\\a.txt"],
  ['form-data; name="file"; filename="open', "file", "open"],
  ['form-data; name="file"; filename=""', "file", ""],
  [`form-data; name="file"; filename="_.txt"; filename*=UTF-8''%C5%BC.txt`, "file", "ż.txt"],
  [`form-data; filename*=utf-8'pl'%C5%BC.txt; name="file"`, "file", "ż.txt"],
  [`form-data; name="file"; filename="a.txt"; filename*=latin1''%E9.txt`, "file", "a.txt"],
  ["form-data", "", undefined],
  ["form-data; name", "", undefined],
  ["", "", undefined],
])("of %j the names are %p and %p", (header, name, fileName) => {
  expect(dispositionOf(header)).toEqual({ name, fileName });
});
