import { useEffect, useMemo, useState, type FormEvent } from "react";

interface Expense {
  id: string;
  title: string;
  amount: number;
  category: string;
  spent_on: string;
}

const categories = ["Materials", "Travel", "Food", "Office"] as const;
const colors: Record<string, string> = {
  Materials: "#0d9488",
  Travel: "#6366f1",
  Food: "#f59e0b",
  Office: "#e11d48",
};
const money = new Intl.NumberFormat(undefined, { style: "currency", currency: "EUR" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const records = core.records();

export default function Expenses() {
  const [expenses, setExpenses] = useState<Expense[]>([]);
  const [problem, setProblem] = useState("");
  const [loading, setLoading] = useState(true);

  useEffect(() => {
    records
      .search({ limit: 100, sort: "-spent_on" })
      .then(setExpenses, (error: Error) => setProblem(error.message))
      .finally(() => setLoading(false));
  }, []);

  async function add(expense: Omit<Expense, "id">) {
    try {
      const { id } = await records.create(expense);
      setExpenses((all) => [{ id, ...expense }, ...all].sort((a, b) => b.spent_on.localeCompare(a.spent_on)));
      setProblem("");
    } catch (error) {
      setProblem(error instanceof Error ? error.message : "The expense could not be saved.");
    }
  }

  async function remove(id: string) {
    await records.delete(id);
    setExpenses((all) => all.filter((expense) => expense.id !== id));
  }

  const total = expenses.reduce((sum, { amount }) => sum + amount, 0);
  return (
    <main className="min-h-screen scheme-light-dark bg-slate-50 text-slate-900 dark:bg-slate-950 dark:text-slate-100">
      <div className="mx-auto max-w-4xl px-4 py-8 sm:px-6">
        <header className="flex flex-wrap items-end justify-between gap-2">
          <h1 className="text-2xl font-semibold tracking-tight">Expenses</h1>
          <p className="text-3xl font-light tabular-nums" data-total>
            {money.format(total)}
          </p>
        </header>
        {problem && (
          <p role="alert" className="mt-4 rounded-lg bg-rose-100 px-4 py-2 text-sm text-rose-900">
            {problem}
          </p>
        )}
        <div className="mt-6 grid items-start gap-6 md:grid-cols-[18rem_1fr]">
          <aside className="space-y-6">
            <Card>
              <Chart expenses={expenses} total={total} />
            </Card>
            <Card>
              <ExpenseForm onAdd={add} />
            </Card>
          </aside>
          <Card>
            <ul className="divide-y divide-slate-100 dark:divide-slate-800" aria-busy={loading}>
              {expenses.map((expense) => (
                <Row key={expense.id} expense={expense} onRemove={() => void remove(expense.id)} />
              ))}
              {expenses.length === 0 && (
                <li className="py-10 text-center text-sm text-slate-500">
                  {loading ? "Loading…" : "Nothing spent yet"}
                </li>
              )}
            </ul>
          </Card>
        </div>
      </div>
    </main>
  );
}

function Card({ children }: { children: React.ReactNode }) {
  return <section className="rounded-2xl bg-white p-5 shadow-sm dark:bg-slate-900">{children}</section>;
}

function Row({ expense, onRemove }: { expense: Expense; onRemove: () => void }) {
  return (
    <li className="group flex items-center gap-3 py-3">
      <span className="size-2.5 shrink-0 rounded-full" style={{ background: colors[expense.category] ?? "#64748b" }} />
      <span className="min-w-0 grow">
        <span className="block truncate text-sm font-medium">{expense.title}</span>
        <span className="block text-xs text-slate-500 dark:text-slate-400">
          {expense.category}, {day.format(new Date(`${expense.spent_on}T12:00:00`))}
        </span>
      </span>
      <span className="text-sm tabular-nums">{money.format(expense.amount)}</span>
      <button
        className="rounded-md px-2 text-slate-500 hover:bg-slate-100 hover:text-rose-600 focus-visible:text-rose-600 dark:text-slate-400 dark:hover:bg-slate-800"
        aria-label={`Delete “${expense.title}”`}
        onClick={onRemove}
      >
        ×
      </button>
    </li>
  );
}

/** A ring, a slice a category: each is an arc of one circle's dashed outline. */
function Chart({ expenses, total }: { expenses: Expense[]; total: number }) {
  const slices = useMemo(() => {
    let before = 0;
    return categories.map((name) => {
      const sum = expenses.filter(({ category }) => category === name).reduce((all, { amount }) => all + amount, 0);
      const slice = { name, sum, share: total > 0 ? sum / total : 0, before };
      before += slice.share;
      return slice;
    });
  }, [expenses, total]);
  const turn = 2 * Math.PI * 40;
  return (
    <figure>
      <svg viewBox="0 0 100 100" className="mx-auto size-40 -rotate-90" role="img" aria-label="Spending by category">
        <circle cx="50" cy="50" r="40" fill="none" stroke="currentColor" strokeWidth="14" className="opacity-10" />
        {slices.map(({ name, share, before }) => (
          <circle
            key={name}
            cx="50"
            cy="50"
            r="40"
            fill="none"
            stroke={colors[name]}
            strokeWidth="14"
            strokeDasharray={`${share * turn} ${turn}`}
            strokeDashoffset={-before * turn}
            style={{ transition: "stroke-dasharray .4s, stroke-dashoffset .4s" }}
          />
        ))}
      </svg>
      <figcaption className="mt-4 space-y-1.5">
        {slices.map(({ name, sum }) => (
          <span key={name} className="flex items-center gap-2 text-sm">
            <span className="size-2.5 rounded-full" style={{ background: colors[name] }} />
            <span className="grow">{name}</span>
            <span className="text-slate-500 tabular-nums dark:text-slate-400">{money.format(sum)}</span>
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

function ExpenseForm({ onAdd }: { onAdd: (expense: Omit<Expense, "id">) => Promise<void> }) {
  const today = new Date().toISOString().slice(0, 10);
  const field =
    "w-full rounded-lg border border-slate-200 bg-transparent px-3 py-2 text-sm focus:border-indigo-500 focus:outline-none dark:border-slate-700";

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    const data = new FormData(form);
    const text = (name: string) => String(data.get(name) ?? "").trim();
    await onAdd({
      title: text("title"),
      amount: Number(text("amount")),
      category: text("category"),
      spent_on: text("spent_on"),
    });
    form.reset();
  }

  return (
    <form className="space-y-3" onSubmit={(event) => void submit(event)}>
      <input
        className={field}
        name="title"
        placeholder="What was it?"
        aria-label="What was it?"
        maxLength={200}
        required
      />
      <div className="grid grid-cols-2 gap-3">
        <input
          className={field}
          name="amount"
          type="number"
          step="0.01"
          min="0.01"
          placeholder="0.00"
          aria-label="Amount"
          required
        />
        <select className={field} name="category" aria-label="Category">
          {categories.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </div>
      <input className={field} name="spent_on" type="date" defaultValue={today} aria-label="Date" required />
      <button className="w-full rounded-lg bg-indigo-600 px-3 py-2 text-sm font-medium text-white hover:bg-indigo-500">
        Add
      </button>
    </form>
  );
}
