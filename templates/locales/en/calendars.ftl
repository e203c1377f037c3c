# Calendars.
calendar-unused = No job uses it. All its versions are deleted.
calendar-more-jobs = Further jobs use it that are not listed here.
calendars-back = Back to the calendars
calendar-delete = Delete the calendar
keep = Keep it
calendar-new = New calendar
calendar-not-saved = The calendar is not saved.
load-current = Load it as it is now
calendar = Calendar
calendar-name-hint = Jobs refer to the calendar by its name; it does not change later.
calendar-weekdays = Excluded weekdays
calendar-days = Excluded days
calendar-extra = Working days
calendar-extra-hint = Days on which jobs run although the day or its weekday is excluded.
calendar-no-visible-job = No job that you may see uses this calendar.
calendar-jobs = Jobs that use the calendar
calendar-effect = Effect of what is typed here
calendar-more-use = Further jobs use it too.
calendars-none = There are no calendars
calendars-none-text = A calendar excludes days on which jobs must not run, such as bank holidays. The calendars of a job are chosen in its form.
used-by = Used by
weekdays = Weekdays
none-excluded = none excluded
none-ahead = none ahead
calendar-delete-question = Delete the calendar { $name }?
calendar-in-use = { $count ->
    [one] It cannot be deleted: { $count } job uses it. Remove it from the schedule first.
   *[other] It cannot be deleted: { $count } jobs use it. Remove it from their schedules first.
}
calendar-edit = Edit calendar { $name }
typed-is-lost = : what you have typed is lost.
calendar-days-hint = One day or one range on each line: <code>2026-12-25</code>, <code>2026-12-24 to 2026-12-31</code>.
calendar-excluded = { $count ->
    [0] No day of the next 365 is excluded.
    [one] { $count } of the next 365 days is excluded.
   *[other] { $count } of the next 365 days are excluded.
}
calendar-next-excluded = The next ones: { $days }.
and-more = and { $count } more
days-past = { $count } past
calendar-range = { $first } to { $last }
calendar-days-example = 2026-12-24 to 2026-12-26
calendar-is-saved = The calendar { $name } is saved.
calendar-is-deleted = The calendar { $name } is deleted.
calendar-newly-excluded = newly excluded: { $days }
calendar-fires-again = fires again: { $days }
calendar-no-change = no change
calendar-cannot-plan = cannot be planned: { $why }
